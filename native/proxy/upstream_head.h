// A request's head as it goes to a host: what its route rewrites, and what this proxy's caller said
// to it and nobody else.
#pragma once

#include "http/message.h"
#include "proxy/stream_info.h"
#include "route/request_view.h"

namespace fairlead::proxy {

// How long is waited for hosts; 0: as long as it takes.
struct Timeouts {
  // For the whole answer, from the end of the request on.
  net::Millis route_ms = 0;
  // The exchange with one host.
  net::Millis exchange_ms = 0;
};

// Of the route, the cluster and the request's own words, which are used up.
Timeouts chooseTimeouts(http::HeaderMap& headers, const StreamInfo& info);

// `info` knows route, target, cluster and host. New strings live in the context's arena.
void prepareUpstreamHead(http::RequestHead& head, const route::RequestView& view,
                         const StreamInfo& info, const Timeouts& timeouts);

}  // namespace fairlead::proxy
