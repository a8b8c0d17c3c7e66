// What is wrong with a request's head before it is routed. Paths and hosts are put right on the way
// where the configuration asks for it.
#pragma once

#include <optional>

#include "filters/http/local_reply.h"
#include "http/message.h"
#include "proxy/http_server.h"

namespace fairlead::proxy {

// What becomes of names with an underscore, which other servers take for a hyphen. False: the
// request is to be refused.
bool acceptUnderscores(http::HeaderMap& headers, HttpServer& server, bool is_http2);

// The answer to a request that goes no further. Counts it.
std::optional<filters::LocalReply> refuseHead(http::RequestHead& head, HttpServer& server);

}  // namespace fairlead::proxy
