// Where a client's connection comes from and went to, as logs and headers tell of it.
#pragma once

#include "format/context.h"
#include "format/passed_metadata.h"
#include "net/downstream_connection.h"

namespace fairlead::format {

inline void describeOrigin(const net::DownstreamConnection& connection, FormatContext* context) {
  context->downstream_remote = &connection.remote();
  context->downstream_direct_remote = &connection.directRemote();
  context->downstream_local = &connection.local();
  context->downstream_direct_local = &connection.directLocal();
  context->connection_id = connection.id();
  context->termination_details = connection.termination();
  context->connection = &connection;
  context->connection_state = connection.filterState();
  if (const net::TlsInfo* tls = connection.tls()) {
    context->downstream_tls = tls;
    context->downstream_failure = tls->failure();
    context->handshake_at_us = connection.handshakeAtMicros();
  }
  if (const net::Findings* findings = connection.findings()) {
    context->tlvs = &findings->tlvs;
    context->requested_server_name = findings->server_name;
    context->ja3 = findings->ja3;
    context->ja4 = findings->ja4;
  }
}

// Metadata, and why first bytes were no TLS, are of the connection alone: logs of its requests do
// not show them, as in the real server.
inline void describeConnection(const net::DownstreamConnection& connection,
                               FormatContext* context) {
  describeOrigin(connection, context);
  const net::Findings* const findings = connection.findings();
  if (findings && context->downstream_failure.empty()) {
    context->downstream_failure = findings->transport_failure;
  }
  context->metadata = connection.metadata();
  context->downstream_close_reason = connection.closedBy();
  if (const net::Findings* findings = connection.findings()) {
    if (findings->passed_metadata) context->filter_metadata = findings->passed_metadata->all();
  }
}

}  // namespace fairlead::format
