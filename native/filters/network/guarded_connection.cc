#include "filters/network/guarded_connection.h"

#include <string>
#include <vector>

#include "format/origin.h"
#include "format/struct_metadata.h"

namespace fairlead::filters {

route::RequestView viewOf(const net::DownstreamConnection& connection) {
  // Shared by all threads, and never written to. Never freed: threads may outlast static objects.
  static http::HeaderMap& no_headers = *new http::HeaderMap;
  return {{},
          {},
          {},
          {},
          &no_headers,
          connection.id(),
          connection.tls(),
          &connection,
          [](const void* described, format::FormatContext* out) {
            format::describeConnection(*static_cast<const net::DownstreamConnection*>(described),
                                       out);
          }};
}

void tellMetadata(net::DownstreamConnection& connection, std::string_view space,
                  std::string_view message) {
  std::vector<plan::MetadataValue> values;
  if (message.empty() || !format::readStruct(message, &values)) return;
  for (const plan::MetadataValue& value : values) {
    if (value.path.empty() || value.path.find('\0') != std::string::npos) continue;
    connection.tell(space, value.path, value.text);
  }
}

}  // namespace fairlead::filters
