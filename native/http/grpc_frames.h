// gRPC's framing of messages in a body: a byte of flags, four of length, the message. Values; no
// bytes are kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead::http {

constexpr size_t kGrpcFrameHeaderBytes = 5;

inline void appendGrpcFrameHeader(std::string* out, uint8_t flags, size_t length) {
  out->push_back(static_cast<char>(flags));
  for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<char>(length >> shift));
}

// What the frame at the front of a body says of its message's length; absent: not all of its header
// has come.
inline std::optional<size_t> grpcMessageBytes(std::string_view body) {
  if (body.size() < kGrpcFrameHeaderBytes) return std::nullopt;
  size_t length = 0;
  for (size_t i = 1; i < kGrpcFrameHeaderBytes; ++i) {
    length = length << 8 | static_cast<uint8_t>(body[i]);
  }
  return length;
}

// Takes a frame from the front of a body that has begun, and gives its message. False: there is no
// whole one.
inline bool takeGrpcFrame(std::string_view* body, std::string_view* message) {
  const std::optional<size_t> length = grpcMessageBytes(*body);
  if (!length || body->size() - kGrpcFrameHeaderBytes < *length) return false;
  *message = body->substr(kGrpcFrameHeaderBytes, *length);
  body->remove_prefix(kGrpcFrameHeaderBytes + *length);
  return true;
}

// Where frames begin and end in a body that comes in pieces of any size.
class GrpcFrames {
 public:
  // Calls visit(piece, ends_frame) for pieces that each belong to one frame, headers included.
  template <typename Visit>
  void add(std::string_view data, Visit visit) {
    while (!data.empty()) {
      if (header_bytes_ == 0) ++count_;
      size_t size = 0;
      while (header_bytes_ < kGrpcFrameHeaderBytes && size < data.size()) {
        const auto byte = static_cast<uint8_t>(data[size++]);
        if (header_bytes_++ > 0) left_ = left_ << 8 | byte;
      }
      if (header_bytes_ == kGrpcFrameHeaderBytes) {
        const size_t part = static_cast<size_t>(std::min<uint64_t>(left_, data.size() - size));
        left_ -= part;
        size += part;
      }
      const bool ends = header_bytes_ == kGrpcFrameHeaderBytes && left_ == 0;
      if (ends) header_bytes_ = 0;
      visit(data.substr(0, size), ends);
      data.remove_prefix(size);
    }
  }
  void add(std::string_view data) {
    add(data, [](std::string_view, bool) {});
  }
  // Frames that have begun.
  uint64_t count() const { return count_; }

 private:
  uint64_t count_ = 0;
  // Of the frame that is under way: of its length as far as it has come, then of its message.
  uint64_t left_ = 0;
  uint8_t header_bytes_ = 0;
};

}  // namespace fairlead::http
