#include "worker/listener_log.h"

#include <chrono>

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
  context.downstream_remote = &connection.remote();
  context.downstream_direct_remote = &connection.remote();
  context.downstream_local = &connection.local();
  context.connection_id = connection.id();
  connection.describe(&context);
  write(context);
}

void ListenerLog::onUnmatched(const net::AcceptedSocket& socket) {
  format::FormatContext context;
  context.start_time_us = wallMicros();
  context.duration_us = 0;
  context.flags.set(format::ResponseFlag::NoRouteFound);
  context.details = "filter_chain_not_found";
  context.downstream_remote = &socket.remote;
  context.downstream_direct_remote = &socket.remote;
  context.downstream_local = &socket.local;
  write(context);
}

void ListenerLog::write(const format::FormatContext& context) {
  for (const auto& log : logs_) log->write(worker_, context, random_.next());
}

}  // namespace fairlead::worker
