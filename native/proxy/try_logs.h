// What logs say of each try of a request at a host, where the router has such logs. Part of a
// router, used again; the worker's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "format/log_type.h"
#include "format/response_flags.h"
#include "http/saved_head.h"
#include "net/timer_wheel.h"
#include "upstream/attempt.h"

namespace fairlead::proxy {

struct StreamInfo;

class TryLogs {
 public:
  explicit TryLogs(StreamInfo& info) : info_(info) {}

  // `host`: which it is for; there as long as the attempt has it.
  void begin(const upstream::Attempt& attempt, const upstream::Host& host);
  // The host has the request now.
  void onReady(upstream::Attempt& attempt);
  void onAnswer(const upstream::Attempt& attempt, const http::ResponseHead& head);
  void onTrailers(const upstream::Attempt& attempt, const http::HeaderMap& trailers);
  void onReceived(const upstream::Attempt& attempt, size_t bytes);
  void onSent(const upstream::Attempt& attempt, size_t bytes);
  void onFlag(const upstream::Attempt& attempt, format::ResponseFlag flag);
  // The try is over; it is told of once. Its host is there still.
  void end(upstream::Attempt& attempt);
  // Those that are under way. Each of its attempts lives still.
  void endAll();

  // When one of them is to be told of as it goes on; net::kNever: none is.
  net::Millis due() const;
  void tellDue(net::Millis now);

 private:
  struct Try {
    // Null: it rests.
    upstream::Attempt* attempt = nullptr;
    const upstream::Host* host = nullptr;
    uint64_t start_us = 0;
    // 0: there is none.
    uint64_t answer_us = 0;
    uint16_t status = 0;
    bool is_ready = false;
    format::ResponseFlags flags;
    // Of bodies.
    uint64_t received = 0;
    uint64_t sent = 0;
    net::Millis next = net::kNever;
    http::SavedHead response;
    http::SavedHead trailers;
  };

  Try* find(const upstream::Attempt& attempt);
  void write(Try& one, format::LogType type);

  StreamInfo& info_;
  std::vector<std::unique_ptr<Try>> tries_;
};

}  // namespace fairlead::proxy
