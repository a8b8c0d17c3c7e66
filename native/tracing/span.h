// Who a span is, within its trace. Plain data.
#pragma once

#include <cstdint>
#include <string>

namespace fairlead::tracing {

struct SpanIds {
  uint64_t trace_high = 0;
  uint64_t trace_low = 0;
  uint64_t span = 0;
  // 0: it begins the trace, or nobody knows.
  uint64_t parent = 0;
  bool has_parent = false;
  // The parent is another process's.
  bool is_remote = false;
  // It will be told of.
  bool is_sampled = false;
};

// What came with a request, and goes on with what it makes hosts do.
struct Baggage {
  // "tracestate"; of Datadog: its tags; of SkyWalking: the correlation.
  std::string state;
  // Of Zipkin: it came as one header, and goes on so.
  bool is_single_header = false;
  // Of Datadog.
  std::string origin;
  int priority = 0;
  bool has_priority = false;
  // Of SkyWalking, as texts: the trace's and this segment's id.
  std::string trace;
  std::string segment;

  void clear() {
    state.clear();
    origin.clear();
    trace.clear();
    segment.clear();
    is_single_header = has_priority = false;
    priority = 0;
  }
};

}  // namespace fairlead::tracing
