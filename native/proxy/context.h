// What a worker lends to the requests it serves: its loop, its scratch memory, its clusters. The
// worker's thread only. Scratch memory holds one message's head at a time, and only until the
// handler returns.
#pragma once

#include <memory>

#include "base/arena.h"
#include "base/list.h"
#include "calls/calls.h"
#include "http/message.h"
#include "net/resting_pool.h"
#include "proxy/clock.h"
#include "route/worker_routes.h"
#include "upstream/worker_clusters.h"

namespace fairlead::proxy {

class Mirror;
class Stream;

// Streams that rest between two requests. Those in use are owned by their clients' connections.
class StreamPool {
 public:
  static constexpr size_t kMaxResting = 1024;

  StreamPool();
  ~StreamPool();
  Stream* take();
  // `stream` may still be used by its callers until the turn ends.
  void give(Stream* stream, net::Loop& loop);
  // Ends those that nobody needed since the previous call.
  void trim();

 private:
  net::RestingPool<Stream> resting_;
};

// Copies of requests: those that rest between two uses, and those under way.
class MirrorPool {
 public:
  MirrorPool();
  ~MirrorPool();
  Mirror& take();
  // `mirror` may still be used by its callers until the turn ends.
  void give(Mirror& mirror, net::Loop& loop);
  // Those under way end here: what they use goes.
  void endActive();

 private:
  static constexpr size_t kMaxResting = 64;

  List<Mirror> active_;
  net::RestingPool<Mirror> resting_;
};

struct Context {
  explicit Context(upstream::WorkerClusters& worker_clusters)
      : clusters(worker_clusters), upstream(worker_clusters.context()), calls(worker_clusters) {}

  upstream::WorkerClusters& clusters;
  upstream::UpstreamContext& upstream;
  route::WorkerRoutes routes;
  // A head of our own making, or a saved one that is needed again.
  http::HeaderMap headers;
  // One that filters held, while it goes on.
  http::RequestHead released;
  // The same of tries at hosts: a request's head on its way through their filters, or the head of
  // an answer that filters held; and strings of either.
  http::RequestHead tried;
  http::ResponseHead tried_answer;
  Arena tried_arena{4096};
  // Saved heads while a log line is made of them.
  http::HeaderMap log_request;
  http::HeaderMap log_response;
  http::HeaderMap log_trailers;
  // Strings of the head that is under way.
  Arena arena{16 * 1024};
  Clock clock;
  StreamPool streams;
  MirrorPool mirrors;
  // Of services, by filters.
  calls::Calls calls;

  net::Loop& loop() { return upstream.loop; }
};

}  // namespace fairlead::proxy
