// Dynamic metadata that services are told of: envoy.config.core.v3.Metadata. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/proto_writer.h"
#include "format/context.h"

namespace fairlead::filters {

// Of these namespaces. What the request has comes before what its connection has.
void addMetadata(const format::FormatContext& context, const std::vector<std::string>& namespaces,
                 ProtoWriter* out);
// The same of the cluster that the request goes to, and of its route.
void addClusterMetadata(const format::FormatContext& context,
                        const std::vector<std::string>& namespaces, ProtoWriter* out);
void addRouteMetadata(const format::FormatContext& context,
                      const std::vector<std::string>& namespaces, ProtoWriter* out);

// Those that have types of their own: of the request, and of what configurations say.
void addTypedMetadata(const format::FormatContext& context,
                      const std::vector<std::string>& namespaces, ProtoWriter* out);
void addTypedMetadata(const std::vector<plan::TypedMetadata>* configured,
                      const std::vector<std::string>& namespaces, ProtoWriter* out);

}  // namespace fairlead::filters
