// Who takes part in a talk of both sides of HTTP/2: the program that says what they do, what is
// said and heard in an exchange, and the wire between them.
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "http/codec.h"
#include "http/http2/frames.h"
#include "http/message.h"

namespace fairlead::http2::talk {

constexpr size_t kMostBody = 256 * 1024;

// The program, byte by byte; 0 behind its end.
class Program {
 public:
  Program(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}
  bool isOver() const { return at_ == end_; }
  uint8_t next() { return at_ < end_ ? *at_++ : 0; }
  // Mostly small, at times more than a frame or a window.
  size_t length() {
    const uint8_t byte = next();
    return byte < 0x80 ? byte : size_t{byte & 0x7fu} * 521;
  }

 private:
  const uint8_t* at_;
  const uint8_t* const end_;
};

inline http::HeaderMap& scratchHeaders() {
  static auto* const headers = new http::HeaderMap;
  headers->clear();
  return *headers;
}

using Fields = std::vector<std::pair<std::string, std::string>>;

// Known names and others, values that repeat and that do not.
inline Fields fieldsOf(Program& program) {
  static constexpr std::string_view kNames[] = {"accept", "x-own",     "cookie",  "te",
                                                "etag",   "x-another", "referer", "grpc-status"};
  Fields fields;
  for (size_t count = program.next() % 5; count > 0; --count) {
    const uint8_t shape = program.next();
    std::string_view name = kNames[shape % std::size(kNames)];
    std::string value(shape / 16, static_cast<char>('a' + program.next() % 20));
    // A cookie that comes twice is joined, and others are as well: one of each.
    bool is_new = true;
    for (const auto& field : fields) is_new &= field.first != name;
    if (name == "te") value = "trailers";
    if (is_new) fields.emplace_back(name, value);
  }
  return fields;
}

inline http::HeaderMap& mapOf(const Fields& fields) {
  http::HeaderMap& headers = scratchHeaders();
  for (const auto& [name, value] : fields) headers.add(http::internHeader(name), name, value);
  return headers;
}

inline Fields fieldsIn(const http::HeaderMap& headers) {
  Fields fields;
  for (const http::HeaderEntry& entry : headers) {
    if (entry.name_size > 0) fields.emplace_back(entry.name(), entry.value());
  }
  return fields;
}

// One direction of one exchange: what was said, and what was heard of it.
struct Message {
  bool has_head = false;
  Fields head;
  size_t said = 0;
  Fields trailers;
  bool is_said_whole = false;

  bool is_head_heard = false;
  size_t heard = 0;
  bool is_heard_whole = false;

  static char byteAt(size_t place) { return static_cast<char>('A' + place % 57); }
  // Memory of its own, so that whoever keeps a view of it for too long is found out.
  std::string nextBytes(size_t size) {
    std::string bytes(std::min(size, kMostBody - std::min(said, kMostBody)), 0);
    for (char& byte : bytes) byte = byteAt(said++);
    return bytes;
  }
  void hearHead(const Fields& fields, bool end) {
    FL_CHECK(has_head && !std::exchange(is_head_heard, true) && fields == head);
    if (end) hearEnd();
  }
  void hear(std::string_view bytes, bool end) {
    FL_CHECK(is_head_heard && !is_heard_whole);
    for (const char byte : bytes) FL_CHECK(byte == byteAt(heard++));
    if (end) hearEnd();
  }
  void hearTrailers(const Fields& fields) {
    FL_CHECK(fields == trailers);
    hearEnd();
  }
  void hearEnd() {
    FL_CHECK(is_said_whole && heard == said && !std::exchange(is_heard_whole, true));
  }
};

struct Exchange final : http::RequestSink, http::ResponseSink {
  explicit Exchange(size_t which) : number(which) {}

  // ---- as the server has it ----
  void onRequestHead(http::RequestHead& head, bool end) override {
    FL_CHECK(server && head.method == "POST" && head.authority == "a");
    request.hearHead(fieldsIn(head.headers), end);
  }
  void onRequestData(std::string_view data, bool end) override {
    FL_CHECK(server);
    request.hear(data, end);
  }
  void onRequestTrailers(http::HeaderMap& trailers) override {
    FL_CHECK(server);
    request.hearTrailers(fieldsIn(trailers));
  }
  void onRequestReadEnd() override { FL_CHECK(server); }
  void onRequestBroken(uint16_t, std::string_view) override { FL_CHECK(false); }
  void onRequestHeadTimeout() override { FL_CHECK(false); }
  void onRequestReset(http::ResetReason, std::string_view) override {
    FL_CHECK(std::exchange(server, nullptr));
    is_given_up = true;
  }
  void onDownstreamWritable() override { FL_CHECK(server); }
  void onAnswerComplete() override {
    FL_CHECK(std::exchange(server, nullptr) && answer.is_said_whole);
    // The rest of the request is not wanted.
    if (!request.is_heard_whole) is_given_up = true;
  }
  http::ByteMeter& downstreamMeter() override { return server_meter; }

  // ---- as the client has it ----
  void onInformational(http::ResponseHead& head) override {
    FL_CHECK(client && head.status == 103 && !answer.is_head_heard);
  }
  void onResponseHead(http::ResponseHead& head, bool end) override {
    FL_CHECK(client && head.status == 200);
    if (end) client = nullptr;
    answer.hearHead(fieldsIn(head.headers), end);
  }
  void onResponseData(std::string_view data, bool end) override {
    FL_CHECK(client);
    if (end) client = nullptr;
    answer.hear(data, end);
  }
  void onResponseTrailers(http::HeaderMap& trailers) override {
    FL_CHECK(std::exchange(client, nullptr));
    answer.hearTrailers(fieldsIn(trailers));
  }
  void onResponseReadEnd() override { FL_CHECK(client); }
  void onResponseReset(http::ResetReason, std::string_view) override {
    FL_CHECK(std::exchange(client, nullptr));
    is_given_up = true;
  }
  void onUpstreamWritable() override { FL_CHECK(client); }
  void onRawReadable() override { FL_CHECK(false); }
  http::ByteMeter& upstreamMeter() override { return client_meter; }

  const size_t number;
  Message request;
  Message answer;
  // Null: not begun, or over.
  http::ServerStream* server = nullptr;
  http::ClientStream* client = nullptr;
  http::ByteMeter server_meter;
  http::ByteMeter client_meter;
  bool is_given_up = false;
  bool client_pauses = false;
  bool server_pauses = false;
};

// One direction of the wire. Knows where frames begin, so that others can be put between them.
class Way {
 public:
  Way(int from, int to, std::string_view preface) : from_(from), to_(to), preface_(preface) {}

  // False: nothing moved.
  bool move(size_t most) {
    take();
    const size_t piece = std::min(most, held_.size());
    if (piece == 0) return false;
    const ssize_t sent = ::send(to_, held_.data(), piece, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    held_.erase(0, static_cast<size_t>(sent));
    return true;
  }
  // Not before the settings that each side begins with: their answer would be taken for the answer
  // to those.
  void inject(std::string_view frame) {
    take();
    if (has_begun_ && left_ == 0 && head_.empty() && preface_.empty()) held_.append(frame);
  }

 private:
  void take() {
    char buffer[16 * 1024];
    ssize_t got;
    while (held_.size() < 1024 * 1024 && (got = ::recv(from_, buffer, sizeof(buffer), 0)) > 0) {
      follow({buffer, static_cast<size_t>(got)});
    }
  }
  void follow(std::string_view bytes) {
    preface_.remove_prefix(hold(&bytes, preface_.size()));
    while (!bytes.empty()) {
      left_ -= hold(&bytes, left_);
      if (left_ > 0 || bytes.empty()) continue;
      head_ += bytes[0];
      bytes.remove_prefix(1);
      if (head_.size() < kFrameHeadBytes) continue;
      const FrameHead head = readFrameHead(head_.data());
      left_ = head.length;
      // CONTINUATION follows at once: not between these.
      FL_CHECK(head.type != FrameType::Continuation);
      // Who is at the other end has not asked for what came of frames that were put in.
      const bool is_ack = head.type == FrameType::Settings && head.has(flags::kAck);
      if (!is_ack || !std::exchange(has_acked_, true)) held_.append(head_);
      head_.clear();
      has_begun_ = true;
    }
  }
  // How many bytes these were.
  size_t hold(std::string_view* bytes, size_t most) {
    const size_t size = std::min(bytes->size(), most);
    held_.append(bytes->substr(0, size));
    bytes->remove_prefix(size);
    return size;
  }

  const int from_;
  const int to_;
  std::string_view preface_;
  std::string held_;
  std::string head_;
  size_t left_ = 0;
  bool has_begun_ = false;
  bool has_acked_ = false;
};

}  // namespace fairlead::http2::talk
