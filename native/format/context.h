// All that a substitution format may speak of. Filled where a line or a header is made; views and
// pointers live until then. What is empty or null reads as "-".
#pragma once

#include <cstdint>
#include <string_view>

#include "format/response_flags.h"
#include "http/message.h"
#include "net/address.h"

namespace fairlead::format {

constexpr uint64_t kUnknown = UINT64_MAX;

struct FormatContext {
  // Of the wall clock.
  uint64_t start_time_us = 0;
  // Since the start; kUnknown: it did not come so far.
  uint64_t duration_us = kUnknown;
  uint64_t request_end_us = kUnknown;
  uint64_t response_begin_us = kUnknown;
  ResponseFlags flags;
  uint16_t status = 0;
  std::string_view protocol;
  std::string_view upstream_protocol;
  std::string_view method;
  std::string_view path;
  std::string_view authority;
  std::string_view scheme;
  const http::HeaderMap* request_headers = nullptr;
  const http::HeaderMap* response_headers = nullptr;
  const http::HeaderMap* response_trailers = nullptr;
  std::string_view details;
  std::string_view termination_details;
  std::string_view transport_failure;
  std::string_view local_reply_body;
  // Of bodies.
  uint64_t bytes_received = 0;
  uint64_t bytes_sent = 0;
  // Of everything.
  uint64_t downstream_wire_received = 0;
  uint64_t downstream_wire_sent = 0;
  uint64_t downstream_header_received = 0;
  uint64_t downstream_header_sent = 0;
  uint64_t upstream_wire_received = 0;
  uint64_t upstream_wire_sent = 0;
  uint64_t upstream_header_received = 0;
  uint64_t upstream_header_sent = 0;
  const net::Address* downstream_remote = nullptr;
  const net::Address* downstream_direct_remote = nullptr;
  const net::Address* downstream_local = nullptr;
  const net::Address* upstream_remote = nullptr;
  const net::Address* upstream_local = nullptr;
  std::string_view upstream_cluster;
  std::string_view upstream_cluster_raw;
  std::string_view route_name;
  std::string_view filter_chain_name;
  std::string_view stream_id;
  uint64_t connection_id = 0;
  uint32_t attempts = 0;

  // A request header, or a pseudo header (":path"); empty: there is none.
  std::string_view requestHeader(std::string_view name) const {
    if (!name.empty() && name[0] == ':') {
      if (name == ":method") return method;
      if (name == ":path") return path;
      if (name == ":authority") return authority;
      if (name == ":scheme") return scheme;
      return {};
    }
    if (name == "host") return authority;
    return valueOf(request_headers, name);
  }
  static std::string_view valueOf(const http::HeaderMap* headers, std::string_view name) {
    if (!headers) return {};
    const http::HeaderEntry* entry = headers->find(name);
    return entry ? entry->value() : std::string_view();
  }
};

}  // namespace fairlead::format
