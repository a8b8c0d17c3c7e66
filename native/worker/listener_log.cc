#include "worker/listener_log.h"

#include <chrono>

#include "format/origin.h"
#include "net/loop.h"

namespace fairlead::worker {

namespace {

uint64_t wallMicros() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

}  // namespace

void ListenerLog::onEnded(const net::DownstreamConnection& connection) {
  format::FormatContext context;
  context.duration_us = net::Loop::readClockMicros() - connection.startedAtMicros();
  context.start_time_us = wallMicros() - context.duration_us;
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
  context->start_time_us = wallMicros() - context->duration_us;
  context->downstream_remote = &socket.remote;
  context->downstream_direct_remote = &socket.directRemote();
  context->downstream_local = &socket.local;
  context->downstream_direct_local = &socket.directLocal();
  if (findings) {
    context->metadata = &findings->metadata;
    context->tlvs = &findings->tlvs;
    context->requested_server_name = findings->server_name;
    context->ja3 = findings->ja3;
    context->ja4 = findings->ja4;
  }
  write(*context);
}

void ListenerLog::write(const format::FormatContext& context) {
  for (const auto& log : logs_) log->write(worker_, context, random_.next());
}

}  // namespace fairlead::worker
