// One worker's HTTP/1 connections to one host, and the requests that wait for one.
// Owned by the worker's WorkerCluster; the worker's thread.
#pragma once

#include <memory>
#include <string_view>

#include "base/list.h"
#include "http/http1/client_connection.h"
#include "upstream/cluster.h"

namespace fairlead::upstream {

class WorkerCluster;

enum class PoolFailure : uint8_t {
  Overflow,
  ConnectFailure,
  ConnectTimeout,
  ConnectionTermination
};

// Who waits for a connection.
class PoolWaiter : public ListNode<PoolWaiter> {
 public:
  // `stream` takes the request now. The waiter is the stream's sink already.
  virtual void onPoolReady(http::ClientStream& stream, Host& host,
                           http1::ClientConnection& connection) = 0;
  // `details`: what is known of the transport's failure; may be empty.
  virtual void onPoolFailure(PoolFailure failure, Host* host, std::string_view details) = 0;
  virtual http::ResponseSink& responseSink() = 0;

  bool to_head = false;
  bool to_connect = false;
  uint8_t priority = 0;

 protected:
  ~PoolWaiter() = default;
};

// A pooled connection with what its pool remembers of it.
class HttpPool final : private http1::ClientCallbacks {
 public:
  HttpPool(WorkerCluster& cluster, std::shared_ptr<Host> host);
  ~HttpPool();
  HttpPool(const HttpPool&) = delete;
  HttpPool& operator=(const HttpPool&) = delete;

  Host& host() { return *host_; }
  // Gives the waiter a stream now, or later, or fails it: exactly one of the waiter's two calls
  // comes, possibly before this returns.
  void newStream(PoolWaiter& waiter);
  // The waiter no longer wants a stream.
  void cancel(PoolWaiter& waiter);
  // No new requests: idle connections close now, active ones after their answer.
  void drain();
  // Whoever speaks of the host holds its pool, and with it the host.
  void hold() { ++holders_; }
  void letGo();
  bool isDraining() const { return draining_; }
  bool isEmpty() const { return connection_count_ == 0 && holders_ == 0; }

 private:
  struct Entry;

  // http1::ClientCallbacks
  void onConnected(http1::ClientConnection& connection) override;
  void onConnectFailed(http1::ClientConnection& connection, Failure failure, int error) override;
  void onExchangeDone(http1::ClientConnection& connection, bool reusable) override;
  void serveWaiting() override;
  void onClosed(http1::ClientConnection& connection, CloseReason reason, bool had_stream) override;
  void onBytes(http1::ClientConnection& connection, size_t received, size_t sent) override;

  bool attach(PoolWaiter& waiter);
  bool openConnection(uint8_t priority, PoolFailure* failure);
  void failWaiters(PoolFailure failure, std::string_view details);
  void failWaiter(PoolWaiter& waiter, PoolFailure failure, std::string_view details);
  void requestEnded();
  void connectionEnded();
  void countAsPool(bool counts);

  WorkerCluster& cluster_;
  std::shared_ptr<Host> host_;
  HostCounters& counters_;
  List<http1::PooledNode> idle_;
  List<http1::PooledNode> busy_;
  List<PoolWaiter> waiting_;
  uint32_t connecting_ = 0;
  uint32_t waiting_count_ = 0;
  uint32_t connection_count_ = 0;
  uint32_t holders_ = 0;
  bool draining_ = false;
  // Among the cluster's connection pools.
  bool counted_ = false;
};

}  // namespace fairlead::upstream
