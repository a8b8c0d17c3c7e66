// What connections to hosts ask for in the filter state, by the real server's names.
#pragma once

#include <string_view>

namespace fairlead::net {

// The name that hosts are asked for over TLS, the names of which their certificates must have one,
// by commas, and what they are offered by ALPN: each in place of what the configuration says.
inline constexpr std::string_view kServerNameKey = "envoy.network.upstream_server_name";
inline constexpr std::string_view kSubjectNamesKey = "envoy.network.upstream_subject_alt_names";
inline constexpr std::string_view kProtocolsKey = "envoy.network.application_protocols";

// The host that clusters of names go to.
inline constexpr std::string_view kHostKey = "envoy.upstream.dynamic_host";
inline constexpr std::string_view kPortKey = "envoy.upstream.dynamic_port";

// Where hosts by their original destinations are in the place of what the connection says.
inline constexpr std::string_view kDestinationKey =
    "envoy.network.transport_socket.original_dst_address";

// "true": the router is to send nothing.
inline constexpr std::string_view kDebugKey = "envoy.router.debug_config";

}  // namespace fairlead::net
