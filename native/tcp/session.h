// One client's connection through the TCP relay: connects to a host, passes bytes both ways, ends
// each half when its sender does. Owns itself and its two sides. The worker's thread.
#pragma once

#include <memory>

#include "format/response_flags.h"
#include "http/connect_transport.h"
#include "net/downstream_connection.h"
#include "tcp/connection_counts.h"
#include "tcp/socket_side.h"
#include "tcp/tcp_proxy.h"
#include "tcp/tunnel_side.h"

namespace fairlead::tcp {

class Session final : public net::DownstreamConnection,
                      public net::Mortal,
                      private SideCallbacks,
                      private TunnelOwner,
                      private upstream::NameWaiter,
                      private filters::OnDemandWaiter,
                      private upstream::HealthFollower,
                      private net::Timer {
 public:
  Session(TcpProxy& proxy, net::AcceptedSocket socket, net::ConnectionAccounts& accounts);

  // False: it has ended already.
  bool start();

  // net::DownstreamConnection. A relay knows no end of work: draining leaves it alone.
  void abort() override { finish(); }
  uint64_t roundTripMs() const override;

 private:
  // SideCallbacks
  bool mayMove(Side& from) override;
  void onMoved(Side& from) override;
  void onEnded(Side& side) override;
  void onDrained(Side& side) override;
  void onBroken(Side& side) override;
  void onConnectResult(Side& side, int error) override;
  void onEarly(Side& from) override;
  void onFlowControl(Side& from, bool paused) override;
  // TunnelOwner
  void onTunnelReady(http::ClientStream& stream, upstream::PooledConnection& connection) override;
  void onTunnelAnswer(const http::ResponseHead& head) override;
  void onTunnelTrailers(const http::HeaderMap& trailers) override;
  void onTunnelFailed(std::string_view why) override;
  // upstream::HealthFollower
  upstream::Host* followedHost() override { return host_.get(); }
  void onHostUnwell() override { finish(); }
  // filters::OnDemandWaiter
  void onMet() override;
  // upstream::NameWaiter
  void onName(const upstream::KnownName& name) override;
  // net::Timer
  void onTimer() override;

  // It is time to connect to a host.
  bool mayConnect() const;
  // Connects, once it is time to.
  void begin();
  // Null: no filter has set it.
  const std::string* stateOf(std::string_view key) const;
  net::Millis idleTimeout() const;
  void watchDuration();
  void restartIdle();
  // Its client may connect.
  void goOn();
  // False: it waits, or has ended.
  bool lookUpServerName();
  // By the filter state, or the client's server name. False: neither says anything.
  bool nameHost(uint32_t port);
  void goToCluster();
  void useHostCluster(upstream::WorkerCluster* cluster);
  const net::Overload& overload() const;
  // The connection ends, which is counted.
  bool isShedAt(net::Overload::Subject point);
  void chooseCluster();
  // True: it waits for its cluster.
  bool askForCluster();
  void endWithoutCluster();
  // No connection could be tried.
  void endWithoutHost(format::ResponseFlag flag, std::string_view reason);
  void connectToCluster();
  void connect();
  // By a connection of its own.
  void connectToHost();
  // Of what its cluster may have waiting, and of connections it may make now.
  bool mayOpen();
  void connectFailed(bool timeout, int error);
  void tellOutlier(upstream::OutlierResult result);
  // By a stream of the cluster's pool.
  void connectThroughPool();
  bool connectsThroughPool() const;
  void makeTunnelId();
  // Empty: it has none.
  std::string_view tunnelId() const;
  // Of a CONNECT in HTTP/1: its host is there, and has it.
  void onTunnelAsked();
  void keepTunnelHead();
  void countTunnelHead(std::string_view head);
  // Its host is there, and has not answered yet.
  bool isTunnelAsked() const { return tunnel_answer_ && tunnel_answer_->is_asked; }
  void noteWaitingTunnel();
  void tryAgain();
  net::Millis backoff();
  // The listener drains, and connections are to end with what comes next.
  void endForDrain();
  void onConnected();
  void releaseUpstream(bool by_peer,
                       net::Connection::CloseKind kind = net::Connection::CloseKind::Fin);
  void countBytes();
  void showBuffered(uint64_t bytes);
  void showHostBuffered(uint64_t bytes);
  // `kind`: whether a side that is still there ends, or is reset.
  void finish(bool by_upstream = false,
              net::Connection::CloseKind kind = net::Connection::CloseKind::Fin);
  // One side is over: the other ends once it has taken what came.
  void endAfter(bool by_upstream);
  bool isHttp1Tunnel() const;
  void notePoolAnswer();
  void logAccess(format::LogType type);
  void logAgainLater();
  format::Exchange* exchange();
  void fillFormat(format::FormatContext* context) const;
  void describe(format::FormatContext* context) const override;
  void watch(net::Millis deadline);
  net::Millis nextDeadline() const;

  TcpProxy& proxy_;
  // Owned by the loop once ended; null after that. A side that broke may leave the other one
  // behind, with bytes to write.
  SocketSide* client_ = nullptr;
  Side* server_ = nullptr;
  // The same where it is a socket.
  SocketSide* server_socket_ = nullptr;
  upstream::WorkerCluster* cluster_ = nullptr;
  // Whose host it goes to: the same, but for clusters that have no hosts of their own. Held.
  upstream::WorkerCluster* host_cluster_ = nullptr;
  std::string cluster_name_;
  // By which its host is known, where that is looked up.
  std::string host_name_;
  upstream::HostWish wish_;
  // What its connection asks for beside what is configured.
  std::optional<plan::SubsetCriteria> criteria_;
  // Where it is sent to, of clusters that make their hosts as they are asked for.
  std::optional<net::Address> destination_;
  std::shared_ptr<upstream::Host> host_;
  net::Address upstream_local_;
  net::SharedTlsInfo upstream_tls_;
  net::Millis connect_deadline_ = net::kNever;
  net::Millis idle_deadline_ = net::kNever;
  net::Millis duration_deadline_ = net::kNever;
  net::Millis log_deadline_ = net::kNever;
  net::Millis retry_deadline_ = net::kNever;
  net::Millis demand_deadline_ = net::kNever;
  // Of a connection of its own.
  ConnectionCounts counts_;
  // Of a stream.
  http::ByteMeter tunnel_meter_;
  uint64_t received_ = 0;  // From the client; counted so far.
  uint64_t refused_ = 0;   // Of these, what a filter let nobody have.
  uint64_t sent_ = 0;      // To the client; counted so far.
  // What downstream_cx_rx_bytes_buffered and its host's upstream_cx_rx_bytes_buffered say.
  uint64_t shown_as_buffered_ = 0;
  uint64_t host_shown_as_buffered_ = 0;
  uint64_t started_wall_us_;
  uint32_t attempts_ = 0;
  format::ResponseFlags flags_;
  std::string transport_failure_;
  // Why it was ended from here; static text.
  std::string_view close_reason_;
  format::CloseType client_close_ = format::CloseType::Normal;
  format::CloseType server_close_ = format::CloseType::Normal;
  // Null: nobody asks for it.
  std::unique_ptr<format::Exchange> exchange_;
  // What formats call the connection; made when one asks.
  mutable std::string stream_id_;
  // What hosts said of the tunnel, as logs show it; empty: nothing, or nobody wants to know.
  std::string tunnel_headers_;
  std::string tunnel_trailers_;
  // Of a CONNECT in HTTP/1: what it took, and its answer (with what came of a body where it was not
  // granted); null: there is none, or it has been looked at.
  uint32_t tunnel_request_bytes_ = 0;
  uint32_t tunnel_header_bytes_ = 0;
  std::shared_ptr<http::ConnectAnswer> tunnel_answer_;
  // With the tunnel's id; null: it has none.
  std::unique_ptr<net::Findings::Metadata> metadata_;
  // It goes to its host, or has asked where that is.
  bool has_begun_ = false;
  // Somebody is asked whether its client may connect.
  bool waits_for_client_ = false;
  bool connected_ = false;
  // A stream of a pool has asked for its tunnel.
  bool asks_tunnel_ = false;
  bool finished_ = false;
};

}  // namespace fairlead::tcp
