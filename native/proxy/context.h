// What a worker lends to the requests it serves: its loop, its scratch memory, its clusters. The
// worker's thread only. Scratch memory holds one message's head at a time, and only until the
// handler returns.
#pragma once

#include <memory>
#include <vector>

#include "base/arena.h"
#include "http/message.h"
#include "proxy/clock.h"
#include "upstream/worker_clusters.h"

namespace fairlead::proxy {

class Stream;

// Streams that rest: taken in the order last-in first-out, so that the one taken is in cache.
class StreamPool {
 public:
  StreamPool();
  ~StreamPool();
  Stream* take();
  void give(Stream* stream) { resting_.push_back(stream); }

 private:
  std::vector<Stream*> resting_;
};

struct Context {
  explicit Context(upstream::WorkerClusters& worker_clusters)
      : clusters(worker_clusters), upstream(worker_clusters.context()) {}

  upstream::WorkerClusters& clusters;
  upstream::UpstreamContext& upstream;
  // A head of our own making, or a saved one that is needed again.
  http::HeaderMap headers;
  // Saved heads while a log line is made of them.
  http::HeaderMap log_request;
  http::HeaderMap log_response;
  // Strings of the head that is under way.
  Arena arena{16 * 1024};
  Clock clock;
  StreamPool streams;

  net::Loop& loop() { return upstream.loop; }
};

}  // namespace fairlead::proxy
