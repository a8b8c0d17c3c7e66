#include "worker/listener_log.h"

#include "base/wall_clock.h"
#include "format/origin.h"
#include "net/loop.h"

namespace fairlead::worker {

void ListenerLog::onEnded(const net::DownstreamConnection& connection) {
  format::FormatContext context;
  context.duration_us = net::Loop::readClockMicros() - connection.startedAtMicros();
  context.start_time_us = wallClockMicros() - context.duration_us;
  format::describeConnection(connection, &context);
  connection.describe(&context);
  write(context);
}

void ListenerLog::onUnmatched(const net::AcceptedSocket& socket) {
  format::FormatContext context;
  context.flags.set(format::ResponseFlag::NoRouteFound);
  context.details = "filter_chain_not_found";
  writeSocket(socket, &context);
}

void ListenerLog::onUnfinished(const net::AcceptedSocket& socket) {
  format::FormatContext context;
  writeSocket(socket, &context);
}

// Of a socket that never became a connection.
void ListenerLog::writeSocket(const net::AcceptedSocket& socket, format::FormatContext* context) {
  const net::Findings* findings = socket.findings.get();
  context->duration_us = findings ? net::Loop::readClockMicros() - findings->accepted_at_us : 0;
  context->start_time_us = wallClockMicros() - context->duration_us;
  context->downstream_remote = &socket.remote;
  context->downstream_direct_remote = &socket.directRemote();
  context->downstream_local = &socket.local;
  context->downstream_direct_local = &socket.directLocal();
  if (findings) {
    context->metadata = &findings->metadata;
    if (findings->passed_metadata) context->filter_metadata = findings->passed_metadata->all();
    context->tlvs = &findings->tlvs;
    context->requested_server_name = findings->server_name;
    context->downstream_failure = findings->transport_failure;
    context->ja3 = findings->ja3;
    context->ja4 = findings->ja4;
  }
  write(*context);
}

void ListenerLog::write(const format::FormatContext& context) {
  for (const auto& log : logs_) log->write(worker_, context, random_.next());
}

}  // namespace fairlead::worker
