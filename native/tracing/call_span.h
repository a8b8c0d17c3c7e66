// The span of a call that this proxy makes on behalf of a request: a child of the request's own. It
// goes on as the call does, and ends with it; the configuration of its request outlives it. Kept
// from use to use, with its memory; the worker's thread. Times are of the loop's clock, in µs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "http/message.h"
#include "tracing/record.h"
#include "tracing/span.h"
#include "tracing/tracing.h"

namespace fairlead::tracing {

class CallSpan {
 public:
  struct Start {
    const Tracing& tracing;
    const SpanIds& ids;
    const Baggage& baggage;
    // What the request's own span is called.
    std::string_view request;
    std::string_view name;
    uint64_t now_us;
    // From that clock to the wall's.
    uint64_t wall_offset_us;
  };
  void begin(const Start& start);
  // It has begun, and has not ended.
  bool isOn() const { return tracing_ != nullptr; }

  // Tells the host which trace it works for.
  void tellHost(http::HeaderMap& headers, Arena& arena) const;
  // The last of a name counts.
  void tag(std::string_view name, std::string_view value);
  // What became of a call of HTTP, as the real server's own client tells it.
  struct HttpEnd {
    // Its name, and what it is shown as; empty: there is none.
    std::string_view cluster;
    std::string_view cluster_shown;
    // The host's address; empty: nobody was asked.
    std::string_view asked;
    // 0: there was no answer.
    uint16_t status;
    // As response flags have it; empty: nothing.
    std::string_view flag;
  };
  void tagHttp(const HttpEnd& end);
  // It is told of, where its request's is. Once.
  void end(uint64_t now_us, unsigned worker, std::string_view peer);
  // Nobody is told of it.
  void drop() { tracing_ = nullptr; }

 private:
  const Tracing* tracing_ = nullptr;
  SpanIds ids_;
  Baggage baggage_;
  std::string request_;
  std::string name_;
  uint64_t start_us_ = 0;
  uint64_t wall_offset_us_ = 0;
  // The first so many are this span's.
  std::vector<std::pair<std::string, std::string>> tags_;
  size_t tag_count_ = 0;
  Record record_;
};

}  // namespace fairlead::tracing
