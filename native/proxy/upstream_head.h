// A request's head as it goes to a host: what its route rewrites, and what this proxy's caller said
// to it and nobody else.
#pragma once

#include "http/message.h"
#include "proxy/retry_state.h"
#include "proxy/stream_info.h"
#include "route/request_view.h"

namespace fairlead::proxy {

// How long is waited for hosts; 0: as long as it takes.
struct Timeouts {
  // For the whole answer, from the end of the request on.
  net::Millis route_ms = 0;
  // For the answer of one try to begin, from the end of the request on or from when a host has it.
  net::Millis try_ms = 0;
  // For more of an answer.
  net::Millis try_idle_ms = 0;
  // The exchange with one host.
  net::Millis exchange_ms = 0;
  // What the answer says when the first two have passed.
  uint16_t status = 504;
  // A try that takes too long goes on, beside another one.
  bool hedges = false;

  // What a host is told: how much of it there is from here on, of which so much has passed.
  net::Millis expected(net::Millis elapsed) const;
};

// Of the route, the cluster and the request's own words, which are used up.
Timeouts chooseTimeouts(http::HeaderMap& headers, const StreamInfo& info);

// What the request's own headers ask of its retries, which they do to this proxy and nobody else.
RetryWishes takeRetryWishes(http::HeaderMap& headers);

// `info` knows route, target, cluster and host. New strings live in the context's arena.
void prepareUpstreamHead(http::RequestHead& head, const route::RequestView& view,
                         const StreamInfo& info, const Timeouts& timeouts);

// What of it is different when it goes out again.
void prepareRetryHead(http::HeaderMap& headers, const StreamInfo& info, const Timeouts& timeouts,
                      bool is_after_timeout);

}  // namespace fairlead::proxy
