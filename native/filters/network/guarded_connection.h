// A connection as filters see it that say whether it may go on. Its worker's thread.
#pragma once

#include <string_view>

#include "net/downstream_connection.h"
#include "route/request_view.h"

namespace fairlead::filters {

// Without a request: conditions that speak of one are refused by configurations, or hold for none.
route::RequestView viewOf(const net::DownstreamConnection& connection);

// What a service has said of it (google.protobuf.Struct), as text, value by value.
void tellMetadata(net::DownstreamConnection& connection, std::string_view space,
                  std::string_view message);

}  // namespace fairlead::filters
