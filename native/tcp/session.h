// One client's connection through the TCP relay: connects to a host, passes bytes both ways, ends
// each half when its sender does. Owns itself and its two sides. The worker's thread.
#pragma once

#include <memory>

#include "format/response_flags.h"
#include "net/downstream_connection.h"
#include "tcp/side.h"
#include "tcp/tcp_proxy.h"

namespace fairlead::tcp {

class Session final : public net::DownstreamConnection,
                      public net::Mortal,
                      private SideCallbacks,
                      private net::Timer {
 public:
  Session(TcpProxy& proxy, net::AcceptedSocket socket, net::ConnectionAccounts& accounts);

  // False: it has ended already.
  bool start();

  // net::DownstreamConnection. A relay knows no end of work: draining leaves it alone.
  void abort() override { finish(); }

 private:
  // SideCallbacks
  void onMoved(Side& from) override;
  void onEnded(Side& side) override;
  void onDrained(Side& side) override;
  void onBroken(Side& side) override;
  void onConnectResult(Side& side, int error) override;
  void onFlowControl(Side& from, bool paused) override;
  // net::Timer
  void onTimer() override;

  void chooseCluster();
  void connect();
  void connectFailed(bool timeout, int error);
  std::string tunnelHead() const;
  void countTunnelRefused();
  void onConnected();
  void releaseUpstream(bool by_peer);
  void countBytes();
  void showBuffered(uint64_t bytes);
  void finish(bool by_upstream = false);
  void logAccess();
  void fillFormat(format::FormatContext* context) const;
  void describe(format::FormatContext* context) const override;
  void watch(net::Millis deadline);
  net::Millis nextDeadline() const;

  TcpProxy& proxy_;
  // Owned by the loop once ended; null after that. A side that broke may leave the other one
  // behind, with bytes to write.
  Side* client_ = nullptr;
  Side* server_ = nullptr;
  upstream::WorkerCluster* cluster_ = nullptr;
  std::string cluster_name_;
  std::shared_ptr<upstream::Host> host_;
  net::Address upstream_local_;
  net::SharedTlsInfo upstream_tls_;
  net::Millis connect_deadline_ = net::kNever;
  net::Millis idle_deadline_ = net::kNever;
  net::Millis duration_deadline_ = net::kNever;
  uint64_t connect_started_us_ = 0;
  uint64_t received_ = 0;  // From the client; counted so far.
  uint64_t sent_ = 0;      // To the client; counted so far.
  // What downstream_cx_rx_bytes_buffered says.
  uint64_t shown_as_buffered_ = 0;
  uint64_t started_wall_us_;
  uint32_t attempts_ = 0;
  format::ResponseFlags flags_;
  std::string transport_failure_;
  bool connected_ = false;
  bool holds_upstream_ = false;  // A connection is counted and taken from its budget.
  bool finished_ = false;
};

}  // namespace fairlead::tcp
