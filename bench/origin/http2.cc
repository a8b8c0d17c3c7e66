#include "bench/origin/http2.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

namespace fairlead::bench {

using namespace http2;

namespace {

constexpr size_t kLargestBody = 64 * 1024 * 1024;
// Given to the socket before more is made.
constexpr size_t kMostWaiting = 256 * 1024;
// A proxy may send so much to all streams together, and is told when half of it is used up.
constexpr uint32_t kReceiveWindow = 16 * 1024 * 1024;
constexpr std::string_view kGrpcPrefix = "/grpc/";
constexpr size_t kGrpcPrefixBytes = 5;

std::string_view filling() {
  static const std::string bytes(64 * 1024, 'x');
  return bytes;
}

// Of gRPC: not compressed, and how long its message is. `frame`: where it and the message begin.
void writeGrpcPrefix(char* frame, size_t room, size_t left) {
  char prefix[kGrpcPrefixBytes] = {};
  write32(prefix + 1, static_cast<uint32_t>(left - kGrpcPrefixBytes));
  std::memcpy(frame, prefix, std::min(room, sizeof prefix));
}

}  // namespace

Http2::Http2() {
  char setting[6];
  write32(write16(setting, static_cast<uint16_t>(SettingId::InitialWindowSize)), kReceiveWindow);
  frame(FrameType::Settings, 0, 0, {setting, sizeof setting});
  char update[4];
  write32(update, kReceiveWindow - kDefaultWindow);
  frame(FrameType::WindowUpdate, 0, 0, {update, sizeof update});
}

ptrdiff_t Http2::receive(std::string_view bytes) {
  size_t used = 0;
  if (!has_begun_) {
    if (bytes.size() < kPreface.size()) return 0;
    if (!bytes.starts_with(kPreface)) return -1;
    has_begun_ = true;
    used = kPreface.size();
  }
  while (bytes.size() - used >= kFrameHeadBytes) {
    const FrameHead head = readFrameHead(bytes.data() + used);
    if (bytes.size() - used - kFrameHeadBytes < head.length) break;
    if (!onFrame(head, bytes.substr(used + kFrameHeadBytes, head.length))) return -1;
    used += kFrameHeadBytes + head.length;
  }
  if (received_ >= kReceiveWindow / 2) {
    char update[4];
    write32(update, received_);
    frame(FrameType::WindowUpdate, 0, 0, {update, sizeof update});
    received_ = 0;
  }
  fill();
  return static_cast<ptrdiff_t>(used);
}

bool Http2::onFrame(const FrameHead& head, std::string_view payload) {
  switch (head.type) {
    case FrameType::Headers:
    case FrameType::Continuation:
      return onHeaders(head, payload);
    case FrameType::Data:
      onData(head, payload);
      return true;
    case FrameType::Settings:
      if (!head.has(flags::kAck)) onSettings(payload);
      return true;
    case FrameType::Ping:
      if (!head.has(flags::kAck)) frame(FrameType::Ping, flags::kAck, 0, payload);
      return true;
    case FrameType::WindowUpdate:
      if (payload.size() != 4) return false;
      (head.stream == 0 ? window_ : windowOf(head.stream)) += read32(payload.data());
      return true;
    case FrameType::RstStream:
      std::erase_if(answers_, [&](const Answer& answer) { return answer.stream == head.stream; });
      open_.erase(head.stream);
      windows_.erase(head.stream);
      return true;
    case FrameType::GoAway:
    case FrameType::Priority:
      return true;
    case FrameType::PushPromise:
      return false;
  }
  return true;
}

bool Http2::onHeaders(const FrameHead& head, std::string_view payload) {
  if (head.type == FrameType::Headers) {
    size_t padding = 0;
    if (head.has(flags::kPadded)) {
      if (payload.empty()) return false;
      padding = static_cast<uint8_t>(payload[0]);
      payload.remove_prefix(1);
    }
    const size_t priority = head.has(flags::kPriority) ? 5 : 0;
    if (payload.size() < padding + priority) return false;
    payload.remove_prefix(priority);
    payload.remove_suffix(padding);
    block_.clear();
    block_ends_ = head.has(flags::kEndStream);
  }
  block_.append(payload);
  if (!head.has(flags::kEndHeaders)) return true;
  Request request;
  if (!readRequest(block_, &request)) return false;
  const auto known = open_.find(head.stream);
  if (known != open_.end()) request = known->second;  // These were its trailers.
  if (block_ends_) {
    open_.erase(head.stream);
    answer(head.stream, request);
  } else {
    open_.emplace(head.stream, request);
  }
  return true;
}

bool Http2::readRequest(std::string_view block, Request* request) {
  arena_.reset();
  decoder_.begin(block);
  for (Field field;;) {
    switch (decoder_.next(arena_, &field)) {
      case HpackDecoder::Step::End:
        return true;
      case HpackDecoder::Step::Error:
        return false;
      case HpackDecoder::Step::Field:
        break;
    }
    if (field.name != ":path" || field.value.empty()) continue;
    std::string_view path = field.value;
    request->is_grpc = path.starts_with(kGrpcPrefix);
    path.remove_prefix(request->is_grpc ? kGrpcPrefix.size() : 1);
    const auto [rest, error] =
        std::from_chars(path.data(), path.data() + path.size(), request->body_bytes);
    if (error != std::errc() || request->body_bytes > kLargestBody) return false;
  }
}

void Http2::onData(const FrameHead& head, std::string_view payload) {
  received_ += static_cast<uint32_t>(payload.size());
  if (!head.has(flags::kEndStream)) return;
  const auto known = open_.find(head.stream);
  if (known == open_.end()) return;
  const Request request = known->second;
  open_.erase(known);
  answer(head.stream, request);
}

void Http2::onSettings(std::string_view payload) {
  for (; payload.size() >= 6; payload.remove_prefix(6)) {
    const uint32_t value = read32(payload.data() + 2);
    switch (static_cast<SettingId>(read16(payload.data()))) {
      case SettingId::HeaderTableSize:
        encoder_.setPeerLimit(value);
        break;
      case SettingId::InitialWindowSize:
        for (auto& [stream, window] : windows_) window += int64_t{value} - initial_window_;
        initial_window_ = value;
        break;
      case SettingId::MaxFrameSize:
        frame_bytes_ = std::min<uint32_t>(value, 64 * 1024);
        break;
      default:
        break;
    }
  }
  frame(FrameType::Settings, flags::kAck, 0, {});
}

int64_t& Http2::windowOf(uint32_t stream) {
  return windows_.try_emplace(stream, initial_window_).first->second;
}

void Http2::answer(uint32_t stream, const Request& request) {
  if (request.is_grpc) {
    writeHeaders(stream, false, "200", "application/grpc", {}, {});
  } else {
    char length[20];
    char* const end = std::to_chars(length, length + sizeof length, request.body_bytes).ptr;
    writeHeaders(stream, request.body_bytes == 0, "200", "text/plain",
                 {length, static_cast<size_t>(end - length)}, {});
    if (request.body_bytes == 0) return;
  }
  const size_t prefix = request.is_grpc ? kGrpcPrefixBytes : 0;
  answers_.push_back({stream, prefix + request.body_bytes, request.is_grpc, request.is_grpc});
}

void Http2::fill() {
  for (size_t stuck = 0; stuck < answers_.size() && window_ > 0 && out.size() < kMostWaiting;) {
    Answer answer = answers_.front();
    answers_.pop_front();
    const auto own = windows_.find(answer.stream);
    int64_t& window = own != windows_.end() ? own->second : windowOf(answer.stream);
    const auto room = static_cast<size_t>(std::max<int64_t>(std::min(window, window_), 0));
    const size_t bytes = std::min({answer.left, room, size_t{frame_bytes_}});
    if (bytes == 0) {
      answers_.push_back(answer);
      ++stuck;
      continue;
    }
    stuck = 0;
    const bool is_last = bytes == answer.left;
    const size_t at = out.size() + kFrameHeadBytes;
    frame(FrameType::Data, is_last && !answer.is_grpc ? flags::kEndStream : 0, answer.stream,
          filling().substr(0, bytes));
    if (std::exchange(answer.begins, false)) writeGrpcPrefix(&out[at], bytes, answer.left);
    window -= static_cast<int64_t>(bytes);
    window_ -= static_cast<int64_t>(bytes);
    answer.left -= bytes;
    if (!is_last) {
      answers_.push_back(answer);
      continue;
    }
    if (answer.is_grpc) writeHeaders(answer.stream, true, {}, {}, {}, "0");
    windows_.erase(answer.stream);
  }
}

void Http2::writeHeaders(uint32_t stream, bool end, std::string_view status, std::string_view type,
                         std::string_view length, std::string_view grpc_status) {
  char block[256];
  char* to = encoder_.begin(block);
  if (!status.empty()) to = encoder_.writeIndexed(HpackEncoder::kStatus200, to);
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) to = encoder_.write({http::internHeader(name), name, value}, to);
  };
  add("content-type", type);
  add("content-length", length);
  add("grpc-status", grpc_status);
  frame(FrameType::Headers,
        static_cast<uint8_t>(flags::kEndHeaders | (end ? flags::kEndStream : 0)), stream,
        {block, static_cast<size_t>(to - block)});
}

void Http2::frame(FrameType type, uint8_t flags, uint32_t stream, std::string_view payload) {
  char head[kFrameHeadBytes];
  writeFrameHead(head, static_cast<uint32_t>(payload.size()), type, flags, stream);
  out.append(head, sizeof head).append(payload);
}

}  // namespace fairlead::bench
