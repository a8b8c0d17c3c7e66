// Frames as a test writes and reads them: what comes is told as text, one word for each frame.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/http2/frames.h"
#include "http/http2/hpack_decoder.h"
#include "http/http2/hpack_encoder.h"
#include "plan/plan.gen.h"

namespace fairlead::http2 {

// The real server's defaults.
inline plan::Http2Options defaultOptions() {
  plan::Http2Options options;
  options.header_table_bytes = 4096;
  options.max_concurrent_streams = 1024;
  options.stream_window_bytes = 16 << 20;
  options.connection_window_bytes = 24 << 20;
  options.max_outbound_frames = 10'000;
  options.max_outbound_control_frames = 1'000;
  options.max_empty_frames = 1;
  options.max_priority_frames_per_stream = 100;
  options.max_window_updates_per_data_frame = 10;
  options.max_header_field_bytes = 64 * 1024;
  return options;
}

using TestFields = std::vector<std::pair<std::string, std::string>>;

inline std::string frame(FrameType type, uint8_t flags, uint32_t stream, std::string_view payload) {
  std::string bytes(kFrameHeadBytes, 0);
  writeFrameHead(bytes.data(), static_cast<uint32_t>(payload.size()), type, flags, stream);
  return bytes.append(payload);
}
inline std::string number32(uint32_t value) {
  std::string bytes(4, 0);
  write32(bytes.data(), value);
  return bytes;
}
inline std::string setting(uint16_t id, uint32_t value) {
  std::string bytes(2, 0);
  write16(bytes.data(), id);
  return bytes + number32(value);
}
inline std::string windowUpdate(uint32_t stream, uint32_t bytes) {
  return frame(FrameType::WindowUpdate, 0, stream, number32(bytes));
}
inline std::string rstStream(uint32_t stream, ErrorCode code) {
  return frame(FrameType::RstStream, 0, stream, number32(static_cast<uint32_t>(code)));
}
inline std::string dataFrame(uint32_t stream, std::string_view data, bool end) {
  return frame(FrameType::Data, end ? flags::kEndStream : 0, stream, data);
}

// One direction's blocks.
class BlockWriter {
 public:
  std::string block(const TestFields& fields) {
    std::string buffer(128 * 1024, 0);
    char* to = encoder_.begin(buffer.data());
    for (const auto& [name, value] : fields) {
      to = encoder_.write({http::internHeader(name), name, value}, to);
    }
    buffer.resize(static_cast<size_t>(to - buffer.data()));
    return buffer;
  }
  std::string headers(uint32_t stream, const TestFields& fields, bool end) {
    const auto all = static_cast<uint8_t>(flags::kEndHeaders | (end ? flags::kEndStream : 0));
    return frame(FrameType::Headers, all, stream, block(fields));
  }

  void setPeerLimit(uint32_t bytes) { encoder_.setPeerLimit(bytes); }

 private:
  HpackEncoder encoder_{true};
};

// Tells frames: "SETTINGS", "HEADERS 1 :status=200;", "DATA 1 ok.", "RST 1 8", with a "." behind
// what ends its stream.
class FrameReader {
 public:
  std::string read(std::string_view bytes) {
    bytes_.append(bytes);
    std::string told;
    while (bytes_.size() >= kFrameHeadBytes) {
      const FrameHead head = readFrameHead(bytes_.data());
      if (bytes_.size() < kFrameHeadBytes + head.length) break;
      const std::string payload = bytes_.substr(kFrameHeadBytes, head.length);
      bytes_.erase(0, kFrameHeadBytes + head.length);
      if (!told.empty()) told += ' ';
      told += tell(head, payload);
    }
    return told;
  }
  size_t data_bytes = 0;

 private:
  std::string tell(const FrameHead& head, const std::string& payload) {
    const std::string id = std::to_string(head.stream);
    const std::string end = head.has(flags::kEndStream) ? "." : "";
    switch (head.type) {
      case FrameType::Data:
        data_bytes += payload.size();
        return "DATA " + id + " " +
               (payload.size() > 32 ? std::to_string(payload.size()) : payload) + end;
      case FrameType::Headers:
        return "HEADERS " + id + " " + fields(payload) + end;
      case FrameType::RstStream:
        return "RST " + id + " " + std::to_string(read32(payload.data()));
      case FrameType::Settings:
        return head.has(flags::kAck) ? "ACK" : "SETTINGS";
      case FrameType::Ping:
        return head.has(flags::kAck) ? "PONG" : "PING";
      case FrameType::GoAway:
        return "GOAWAY " + std::to_string(read32(payload.data())) + " " +
               std::to_string(read32(payload.data() + 4));
      case FrameType::WindowUpdate:
        return "WINDOW " + id + " " + std::to_string(read32(payload.data()));
      case FrameType::Continuation:
        return "CONTINUATION " + id;
      default:
        return "FRAME " + std::to_string(static_cast<int>(head.type));
    }
  }
  std::string fields(const std::string& block) {
    std::string all;
    decoder_.begin(block);
    Field field;
    arena_.reset();
    while (decoder_.next(arena_, &field) == HpackDecoder::Step::Field) {
      all.append(field.name).append("=").append(field.value).append(";");
    }
    return all;
  }

  std::string bytes_;
  HpackDecoder decoder_{4096};
  Arena arena_{4096};
};

}  // namespace fairlead::http2
