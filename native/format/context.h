// All that a substitution format may speak of. Filled where a line or a header is made; views and
// pointers live until then. What is empty or null has no value, but for a header that is there.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "format/exchange.h"
#include "format/filter_metadata.h"
#include "format/header_name.h"
#include "format/log_type.h"
#include "format/response_flags.h"
#include "http/byte_meter.h"
#include "http/message.h"
#include "net/filter_state.h"
#include "net/findings.h"
#include "net/tls_info.h"

namespace fairlead::net {
class DownstreamConnection;
}

namespace fairlead::format {

constexpr uint64_t kUnknown = UINT64_MAX;

struct FormatContext {
  // Of the wall clock.
  uint64_t start_time_us = 0;
  // Since the start; kUnknown: it did not come so far.
  uint64_t duration_us = kUnknown;
  uint64_t request_end_us = kUnknown;
  uint64_t response_begin_us = kUnknown;
  uint64_t response_end_us = kUnknown;
  ResponseFlags flags;
  // 0: no response.
  uint16_t status = 0;
  // Of an answer that is being made, and counts as none so far.
  uint16_t head_status = 0;
  // The head of the answer is a new one, without a status.
  bool is_head_new = false;
  // The request is a health check, as its filter found.
  bool is_health_check = false;
  std::string_view protocol;
  std::string_view upstream_protocol;
  std::string_view method;
  // With its query, as it stands after rewrites.
  std::string_view path;
  std::string_view authority;
  std::string_view scheme;
  const http::HeaderMap* request_headers = nullptr;
  const http::HeaderMap* response_headers = nullptr;
  const http::HeaderMap* response_trailers = nullptr;
  std::string_view details;
  std::string_view termination_details;
  std::string_view transport_failure;
  // Of bodies.
  uint64_t bytes_received = 0;
  uint64_t bytes_sent = 0;
  // Of everything.
  http::ByteMeter downstream;
  http::ByteMeter upstream;
  const net::Address* downstream_remote = nullptr;
  const net::Address* downstream_direct_remote = nullptr;
  const net::Address* downstream_local = nullptr;
  const net::Address* downstream_direct_local = nullptr;
  // What listener filters found; null: nothing is known.
  const net::Findings::Metadata* metadata = nullptr;
  // What HTTP filters have set; the last of a name counts.
  std::span<const SetMetadata> filter_metadata;
  // The same of metadata that have types of their own.
  std::span<const plan::TypedMetadata* const> typed_metadata;
  // Null: filters have set none.
  const net::FilterState* filter_state = nullptr;
  // The same of its connection, where the request has none of that name.
  const net::FilterState* connection_state = nullptr;
  const net::Findings::Values* tlvs = nullptr;
  // Null: it does not speak TLS, or is not there.
  const net::TlsInfo* downstream_tls = nullptr;
  const net::TlsInfo* upstream_tls = nullptr;
  std::string_view downstream_failure;
  // What a listener filter saw.
  std::string_view requested_server_name;
  std::string_view ja3;
  std::string_view ja4;
  // Who was chosen; where the connection to it goes, once it is there.
  const net::Address* upstream_host = nullptr;
  const net::Address* upstream_remote = nullptr;
  const net::Address* upstream_local = nullptr;
  std::string_view upstream_cluster;
  std::string_view upstream_cluster_raw;
  std::string_view route_name;
  // Where the request is counted apart.
  std::string_view virtual_cluster;
  std::string_view filter_chain_name;
  std::string_view stream_id;
  // In hexadecimal.
  std::string_view trace_id;
  std::string_view span_id;
  // What a host said of a tunnel that it was asked for, as JSON.
  std::string_view tunnel_headers;
  std::string_view tunnel_trailers;
  uint64_t connection_id = 0;
  uint32_t attempts = 0;
  LogType log_type = LogType::NotSet;
  // Of the loop's clock: when the client's TLS was agreed on; 0: it was not.
  uint64_t handshake_at_us = 0;
  // Of the loop's clock: when `start_time_us` was.
  uint64_t started_us = 0;
  // Null: nobody asked for it.
  const Exchange* exchange = nullptr;
  // Null: the connection is not there any more.
  const net::DownstreamConnection* connection = nullptr;
  // What configurations say, by plan::FormatPiece::MetadataSource; null: nothing.
  std::array<const std::vector<plan::MetadataSpace>*, 6> configured_metadata{};
  // Of these, what has a type of its own; null: nothing.
  const std::vector<plan::TypedMetadata>* route_typed = nullptr;
  const std::vector<plan::TypedMetadata>* cluster_typed = nullptr;
  // Empty: it has none but its address.
  std::string_view upstream_host_name;
  CloseType downstream_close = CloseType::Normal;
  CloseType upstream_close = CloseType::None;
  std::string_view downstream_close_reason;
  std::string_view upstream_close_reason;
  // What an answer of the proxy's own is about to say.
  std::string_view local_reply_body;
  // The filter that gave an answer in place of a host; empty: there is no such answer.
  std::string_view local_reply_owner;
  // Its way is recorded by a tracer.
  bool is_traced = false;
  // Nothing more will be known.
  bool is_complete = false;

  void setMetadata(plan::FormatPiece::MetadataSource source, const plan::Metadata* metadata) {
    if (metadata) configured_metadata[static_cast<size_t>(source)] = &metadata->spaces;
  }
  // When it was, of the loop's clock; 0: it has not come.
  uint64_t moment(TimePoint point) const;

  // The first request header of that name, or a pseudo header. False: there is none.
  bool requestHeader(const HeaderName& name, std::string_view* value) const;
  // The same by a plain name; empty: there is none.
  std::string_view requestHeader(std::string_view name) const;
  static bool find(const http::HeaderMap* headers, const HeaderName& name, std::string_view* value);
  // What the answer says: in its trailers, or where it has no body in its head; else what its HTTP
  // status means. None: there is no answer.
  std::optional<int64_t> grpcStatus() const;
};

inline bool FormatContext::find(const http::HeaderMap* headers, const HeaderName& name,
                                std::string_view* value) {
  if (!headers || name.empty()) return false;
  const http::HeaderEntry* entry = name.find(*headers);
  if (entry) *value = entry->value();
  return entry != nullptr;
}

inline bool FormatContext::requestHeader(const HeaderName& name, std::string_view* value) const {
  switch (name.kind()) {
    case HeaderName::Kind::Method:
      *value = method;
      break;
    case HeaderName::Kind::Path:
      *value = path;
      break;
    case HeaderName::Kind::Authority:
      *value = authority;
      break;
    case HeaderName::Kind::Scheme:
      *value = scheme;
      break;
    case HeaderName::Kind::OtherPseudo:
      return false;
    case HeaderName::Kind::Header:
      return find(request_headers, name, value);
  }
  return !value->empty();
}

inline uint64_t FormatContext::moment(TimePoint point) const {
  switch (point) {
    case TimePoint::DownstreamRxBegin:
      return started_us;
    case TimePoint::DownstreamRxEnd:
      return request_end_us == kUnknown ? 0 : started_us + request_end_us;
    default:
      return exchange ? exchange->at(point) : 0;
  }
}

inline std::string_view FormatContext::requestHeader(std::string_view name) const {
  std::string_view value;
  return requestHeader(HeaderName(std::string(name)), &value) ? value : std::string_view();
}

}  // namespace fairlead::format
