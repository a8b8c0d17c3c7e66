// One worker's connections to one host, and the requests that wait for a stream on one of them.
// Owned by the worker's WorkerCluster; the worker's thread.
#pragma once

#include <forward_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/list.h"
#include "http/codecs.h"
#include "upstream/cluster.h"
#include "upstream/pool_use.h"
#include "upstream/pooled_connection.h"
#include "upstream/upstream_error.h"

namespace fairlead::upstream {

class WorkerCluster;

// Who waits for a stream to a host; the sink of that stream's answer once it has it.
class PoolWaiter : public ListNode<PoolWaiter>, public http::ResponseSink {
 public:
  // `stream` takes the request now.
  virtual void onPoolReady(http::ClientStream& stream, Host& host,
                           PooledConnection& connection) = 0;
  // `host`: whose failure it is; null: nobody's. `details`: what is known of the transport's
  // failure, static text; may be empty.
  virtual void onPoolFailure(UpstreamError::Kind failure, Host* host, std::string_view details) = 0;

  // Whose budgets it takes from.
  uint8_t priority = 0;

 protected:
  ~PoolWaiter() = default;
};

// Whether so many requests, of which `active` have a stream, want more than there is room for:
// `millionths` of a stream each. `room` counts what there is, until it is enough.
template <typename Room>
bool isShortOfStreams(uint64_t millionths, uint64_t requests, uint64_t active, Room room) {
  constexpr uint64_t kOne = 1'000'000;
  const uint64_t wanted = (requests * millionths + kOne - 1) / kOne;
  return wanted > active && room(wanted - active) < wanted - active;
}

class HttpPool final {
 public:
  HttpPool(WorkerCluster& cluster, std::shared_ptr<Host> host, http::ClientProtocol protocol,
           PoolUse use = {});
  ~HttpPool();
  HttpPool(const HttpPool&) = delete;
  HttpPool& operator=(const HttpPool&) = delete;

  Host& host() { return *host_; }
  // Whose host it is.
  WorkerCluster& cluster() { return cluster_; }
  http::ClientProtocol protocol() const { return protocol_; }
  // Gives the waiter a stream now, or later, or fails it: exactly one of the waiter's two calls
  // comes, possibly before this returns.
  void newStream(PoolWaiter& waiter);
  // The waiter no longer wants a stream.
  void cancel(PoolWaiter& waiter);
  // For a request that another one makes probable: opens a connection unless there is room for so
  // many streams, in millionths of those that there are, and for one more. Whether it did.
  bool preconnect(uint64_t millionths);
  // Requests that have a stream or wait for one.
  uint64_t requestCount() const { return uint64_t{active_} + waiting_count_; }
  uint32_t activeCount() const { return active_; }
  // Streams that could begin without another connection, counted until there are `enough`.
  uint64_t roomFor(uint64_t enough);
  // No new requests: idle connections close now, active ones after their answer.
  void drain();
  // The same of the connections that there are; requests that come are for new ones.
  void drainConnections();
  // Whether its host's health is another than the last time.
  bool noteHealth(bool is_well) { return std::exchange(is_well_, is_well) != is_well; }
  // Whoever speaks of the host holds its pool, and with it the host.
  void hold() { ++holders_; }
  void letGo();
  // No HTTP is spoken on its connections.
  bool isBare() const { return use_.tunnels; }
  bool isDraining() const { return draining_; }
  // Its requests are those of high priority.
  bool isHigh() const { return use_.is_high; }
  // It is one of the cluster's connection pools: it has connections, or requests that wait.
  bool isCounted() const { return counted_; }
  // Nothing is under way: its connections end, and it is none of them any more.
  void giveUpPlace();
  bool isEmpty() const { return connection_count_ == 0 && holders_ == 0; }
  // Nobody knows whether there is ever such a request again.
  bool goesWhenEmpty() const { return draining_ || !use_.isCommon(); }

 private:
  friend class PooledConnection;
  using PoolFailure = UpstreamError::Kind;

  // What its connections tell.
  void onConnected(PooledConnection& connection);
  void onConnectFailed(PooledConnection& connection, http::ClientCodecCallbacks::Failure failure,
                       int error);
  void onStreamEnded(const PooledConnection& connection, const PoolWaiter& waiter,
                     http::ClientCodecCallbacks::StreamEnd end);
  void onRoom(PooledConnection& connection);
  void onGoaway(PooledConnection& connection);
  void onClosed(PooledConnection& connection, PooledConnection::CloseReason reason,
                bool lost_streams);
  void countClose(const PooledConnection& connection, PooledConnection::CloseReason reason,
                  bool lost_streams);
  void serveWaiting();

  bool attach(PoolWaiter& waiter);
  // It has as many connections as one host may have, of all workers.
  bool isHostFull(uint8_t priority) const;
  bool openConnection(uint8_t priority, PoolFailure* failure);
  // More connections are made than those that wait need.
  bool isAhead() const;
  // `anticipated`: streams that are counted as if they were there.
  bool isShort(uint64_t millionths, uint32_t anticipated);
  // At most so many connections at once, as the real server.
  void openAhead(uint8_t priority, int most);
  // Of a new connection.
  uint32_t expectedStreams() const;
  void noLongerConnecting(const PooledConnection& connection);
  void countProtocol(const PooledConnection& connection);
  // Among those with room, or among the others.
  void place(PooledConnection& connection);
  void failWaiters(PoolFailure failure, std::string_view details);
  void failWaiter(PoolWaiter& waiter, PoolFailure failure, std::string_view details);
  void connectionEnded();
  void bury(PooledConnection& connection);
  void countAsPool(bool counts);
  // What is told of a connection that the system refuses at once. Good as long as the pool.
  std::string_view refusalText(int error);

  WorkerCluster& cluster_;
  std::shared_ptr<Host> host_;
  const PoolUse use_;
  HostCounters& counters_;
  // With room for a stream, the latest to be used first; and the others: those that connect, too.
  List<PooledConnection> ready_;
  List<PooledConnection> busy_;
  List<PoolWaiter> waiting_;
  uint32_t connecting_ = 0;
  // How many streams those that connect are thought to carry.
  uint64_t connecting_streams_ = 0;
  uint32_t waiting_count_ = 0;
  uint32_t active_ = 0;
  uint32_t connection_count_ = 0;
  uint32_t holders_ = 0;
  const http::ClientProtocol protocol_;
  // The latest connection of a pool that goes by ALPN speaks HTTP/1.
  bool alpn_said_http1_ = false;
  bool draining_ = false;
  bool is_well_ = true;
  bool is_serving_ = false;
  // Among the cluster's connection pools.
  bool counted_ = false;
  int open_error_ = 0;
  // The overload manager let none be made.
  bool is_open_shed_ = false;
  std::forward_list<std::string> refusals_;
};

}  // namespace fairlead::upstream
