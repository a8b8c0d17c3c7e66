// What asks for an upgrade in HTTP/1, as hosts of HTTP/2 are asked (RFC 8441 §4).
#pragma once

#include "http/codec.h"

namespace fairlead::proxy {

// `head` is one that asks for an upgrade. Its headers are as they were afterwards: logs speak of
// them.
void sendExtendedConnect(http::ClientStream& to, http::RequestOut& head, bool end);

}  // namespace fairlead::proxy
