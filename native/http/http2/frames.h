// Frames of RFC 9113 as bytes: their heads, numbers and names. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead::http2 {

// What a client begins with (3.4).
inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

enum class FrameType : uint8_t {
  Data = 0,
  Headers = 1,
  Priority = 2,
  RstStream = 3,
  Settings = 4,
  PushPromise = 5,
  Ping = 6,
  GoAway = 7,
  WindowUpdate = 8,
  Continuation = 9,
};

namespace flags {
inline constexpr uint8_t kEndStream = 0x1;
inline constexpr uint8_t kAck = 0x1;
inline constexpr uint8_t kEndHeaders = 0x4;
inline constexpr uint8_t kPadded = 0x8;
inline constexpr uint8_t kPriority = 0x20;
}  // namespace flags

enum class ErrorCode : uint32_t {
  NoError = 0,
  ProtocolError = 1,
  InternalError = 2,
  FlowControlError = 3,
  SettingsTimeout = 4,
  StreamClosed = 5,
  FrameSizeError = 6,
  RefusedStream = 7,
  Cancel = 8,
  CompressionError = 9,
  ConnectError = 10,
  EnhanceYourCalm = 11,
  InadequateSecurity = 12,
  Http11Required = 13,
};

enum class SettingId : uint16_t {
  HeaderTableSize = 1,
  EnablePush = 2,
  MaxConcurrentStreams = 3,
  InitialWindowSize = 4,
  MaxFrameSize = 5,
  MaxHeaderListSize = 6,
  EnableConnectProtocol = 8,
  NoRfc7540Priorities = 9,
};

inline constexpr size_t kFrameHeadBytes = 9;
inline constexpr uint32_t kDefaultFrameBytes = 16384;
inline constexpr uint32_t kMostFrameBytes = (1u << 24) - 1;
inline constexpr uint32_t kDefaultWindow = 65535;
inline constexpr uint32_t kMostWindow = (1u << 31) - 1;
inline constexpr uint32_t kMostStreamId = (1u << 31) - 1;

struct FrameHead {
  uint32_t length;
  FrameType type;
  uint8_t flags;
  uint32_t stream;

  bool has(uint8_t flag) const { return (flags & flag) != 0; }
};

inline uint16_t read16(const char* at) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(at);
  return static_cast<uint16_t>(bytes[0] << 8 | bytes[1]);
}
inline uint32_t read32(const char* at) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(at);
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}
inline char* write16(char* to, uint16_t value) {
  to[0] = static_cast<char>(value >> 8);
  to[1] = static_cast<char>(value);
  return to + 2;
}
inline char* write32(char* to, uint32_t value) {
  to = write16(to, static_cast<uint16_t>(value >> 16));
  return write16(to, static_cast<uint16_t>(value));
}

inline FrameHead readFrameHead(const char* at) {
  return {read32(at) >> 8, static_cast<FrameType>(at[3]), static_cast<uint8_t>(at[4]),
          read32(at + 5) & kMostStreamId};
}
inline char* writeFrameHead(char* to, uint32_t length, FrameType type, uint8_t flags,
                            uint32_t stream) {
  to[0] = static_cast<char>(length >> 16);
  to = write16(to + 1, static_cast<uint16_t>(length));
  *to++ = static_cast<char>(type);
  *to++ = static_cast<char>(flags);
  return write32(to, stream);
}

}  // namespace fairlead::http2
