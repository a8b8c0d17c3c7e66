// The span of a call that this proxy makes on behalf of a request: a child of the request's own. It
// lives as the call does, and ends with it; the configuration of its request outlives it. The
// worker's thread. Times are of the loop's clock, in µs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "http/message.h"
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
  explicit CallSpan(const Start& start);

  // Tells the host which trace it works for.
  void tellHost(http::HeaderMap& headers, Arena& arena) const;
  // The last of a name counts.
  void tag(std::string_view name, std::string_view value) { tags_.emplace_back(name, value); }
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

 private:
  const Tracing& tracing_;
  const SpanIds ids_;
  const Baggage baggage_;
  const std::string request_;
  const std::string name_;
  const uint64_t start_us_;
  const uint64_t wall_offset_us_;
  std::vector<std::pair<std::string, std::string>> tags_;
};

}  // namespace fairlead::tracing
