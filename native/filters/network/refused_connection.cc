#include "filters/network/refused_connection.h"

#include <memory>
#include <utility>

#include "format/context.h"

namespace fairlead::filters {

RefusedConnection::RefusedConnection(net::Loop& loop, net::AcceptedSocket& socket,
                                     net::ConnectionAccounts& accounts,
                                     const net::ConnectionGate::Verdict& verdict,
                                     net::ConnectionFactory& meant_for)
    : net::DownstreamConnection(accounts, socket),
      loop_(loop),
      verdict_(verdict),
      meant_for_(meant_for),
      fd_(std::move(socket.fd)) {}

bool RefusedConnection::start() {
  if (verdict_.delay_ms == 0) {
    abort();
    return false;
  }
  loop_.timers().arm(this, loop_.now() + verdict_.delay_ms);
  return true;
}

// As the real server has it.
void RefusedConnection::describe(format::FormatContext* context) const {
  if (verdict_.is_rate_limited)
    context->flags.set(format::ResponseFlag::UpstreamRetryLimitExceeded);
  context->downstream_close_reason = verdict_.reason;
  meant_for_.describeRefused(context);
}

void RefusedConnection::abort() {
  if (!fd_.valid()) return;
  net::Timer::disarm();
  fd_.close();
  leaveListener();
  meant_for_.onRefusedEnded(*this);
  loop_.bury(std::unique_ptr<net::Mortal>(this));
}

}  // namespace fairlead::filters
