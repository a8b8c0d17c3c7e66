// How many frames wait to be written, at most: who makes a peer's answers wait and asks for more is
// not to fill memory. A value; one thread.
//
// Frames are not marked one by one. Those that were queued up to a place in what is written are
// taken as one group, and are gone once that place has been reached: never fewer are counted than
// there are, and never more than wait plus one group.
#pragma once

#include <cstdint>

namespace fairlead::http2 {

class OutboundFrames {
 public:
  // `written`, `queued`: bytes that have left the connection, and that were ever given to it.
  void add(bool is_control, uint64_t written, uint64_t queued) {
    settle(written, queued);
    ++late_.all;
    if (is_control) ++late_.control;
    end_ = queued;
  }
  void settle(uint64_t written, uint64_t queued) {
    if (written < place_) return;
    early_ = written >= end_ ? Group() : late_;
    late_ = {};
    place_ = queued;
  }
  uint32_t all() const { return early_.all + late_.all; }
  uint32_t control() const { return early_.control + late_.control; }

 private:
  struct Group {
    uint32_t all = 0;
    uint32_t control = 0;
  };
  // Up to place_, and behind it.
  Group early_;
  Group late_;
  uint64_t place_ = 0;
  // Of the latest frame.
  uint64_t end_ = 0;
};

}  // namespace fairlead::http2
