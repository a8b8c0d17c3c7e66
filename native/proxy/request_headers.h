// What becomes of a request's headers before it is routed: hop-by-hop headers go, what only trusted
// peers may say goes, and the proxy says who the client is. As the real server does it, in its
// order.
#pragma once

#include <string_view>

#include "http/message.h"
#include "net/downstream_connection.h"
#include "proxy/context.h"
#include "proxy/http_config.h"
#include "route/request_view.h"

namespace fairlead::proxy {

struct RequestFacts {
  // "http" or "https", from x-forwarded-proto, or the configuration's.
  std::string_view scheme;
  // Its x-forwarded-proto is there, and empty: no route is for such a request.
  bool lacks_scheme = false;
  // The client as far as it can be trusted.
  net::Address client;
  bool internal = false;
  // It asks to be traced: the answer tells its id.
  bool is_traced = false;
  std::string_view request_id;
  // Nobody knows who the client is: this is what it hears. 0: it is known.
  uint16_t refusal = 0;
};

// What of a request a connection header takes away from those who come after.
enum class Nomination : uint8_t { Nothing, Host, Forbidden };
Nomination nominates(std::string_view connection);

// Of one that asks for another protocol hosts hear what it says of its connection. Strings that are
// made live in the context's arena.
// `view`: of the head, with what else is known of the request.
RequestFacts prepareRequestHeaders(http::RequestHead& head, const HttpConfig& config,
                                   const net::DownstreamConnection& connection,
                                   const route::RequestView& view, Context& context);

}  // namespace fairlead::proxy
