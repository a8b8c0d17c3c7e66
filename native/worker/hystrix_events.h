// Events for a Hystrix dashboard: two for each cluster at every flush, with what happened in a
// window of the latest flushes. The control thread's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stats/query.h"
#include "worker/data_plane.h"

namespace fairlead::worker {

class HystrixEvents {
 public:
  // `buckets`: how many flushes a window has, at least 1.
  HystrixEvents(DataPlane& data_plane, size_t buckets, uint32_t interval_ms)
      : data_plane_(data_plane), slots_(buckets + 1), interval_ms_(interval_ms) {}

  // Moves the windows on. The page must not outlive this object.
  std::unique_ptr<stats::Page> open(int64_t now_seconds);
  // Windows begin with what there is at the next flush.
  void reset() { windows_.clear(); }

 private:
  class EventPage;
  // Of a cluster: since the start, or within a window, where a reset may make `all` less than the
  // others together.
  struct Counts {
    uint64_t errors = 0;
    uint64_t timeouts = 0;
    uint64_t success = 0;
    uint64_t rejected = 0;
    uint64_t all = 0;

    uint64_t total() const { return errors + timeouts + success + rejected; }
  };
  // A ring: one slot more than flushes, so that the oldest is what was before them.
  using Window = std::vector<Counts>;

  static Counts countsOf(upstream::Cluster& cluster);
  // What happened within the window.
  Counts move(const std::string& cluster, const Counts& now);
  void append(const std::string& name, upstream::Cluster& cluster, int64_t now_seconds,
              std::string* out);

  DataPlane& data_plane_;
  const size_t slots_;
  const uint32_t interval_ms_;
  size_t at_ = 0;
  std::map<std::string, Window> windows_;
};

}  // namespace fairlead::worker
