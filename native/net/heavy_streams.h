// Streams of one worker by how much memory they hold, for who has to shed those that hold most.
// Made for one look: streams keep no accounts of their own, what they hold is added up when it is
// asked for. The worker's thread, within one turn.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace fairlead::net {

class DownstreamConnection;

class HeavyStreams {
 public:
  // As the real server: each class holds twice as much as the one before it, the last one that and
  // more; and no more streams are shed at once, so that the worker comes back to its loop.
  static constexpr uint32_t kClasses = 8;
  static constexpr uint32_t kMostAtOnce = 50;

  // Streams are classed that hold half of 2 to the power of this, and more.
  explicit HeavyStreams(uint32_t min_power) : shift_(min_power - 1) {}

  // `stream`: as its connection calls it.
  void add(DownstreamConnection& connection, uint32_t stream, uint64_t bytes);
  // Class by class, from the largest down, as many as an action has gone far. Returns how many
  // streams have ended. What their ends take along may be among the others.
  uint32_t shed(uint32_t millionths);

 private:
  struct Entry {
    DownstreamConnection* connection;
    uint32_t stream;
  };

  const uint32_t shift_;
  std::array<std::vector<Entry>, kClasses> classes_;
};

}  // namespace fairlead::net
