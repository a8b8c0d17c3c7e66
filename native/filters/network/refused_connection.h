// A connection that a gate refused: nothing of it is read, and it ends, maybe a while later, so
// that its client does not come again at once. Owns itself. The worker's thread.
#pragma once

#include "net/connection_gate.h"
#include "net/downstream_connection.h"

namespace fairlead::filters {

class RefusedConnection final : public net::DownstreamConnection,
                                public net::Mortal,
                                private net::Timer {
 public:
  // `meant_for` would have made it: told of its end.
  RefusedConnection(net::Loop& loop, net::AcceptedSocket& socket, net::ConnectionAccounts& accounts,
                    const net::ConnectionGate::Verdict& verdict, net::ConnectionFactory& meant_for);

  // False: it has ended already.
  bool start();

  // net::DownstreamConnection
  void abort() override;
  void describe(format::FormatContext* context) const override;

 private:
  void onTimer() override { abort(); }

  net::Loop& loop_;
  const net::ConnectionGate::Verdict verdict_;
  net::ConnectionFactory& meant_for_;
  net::FileDescriptor fd_;
};

}  // namespace fairlead::filters
