// Who is told of a descriptor's events. Registered once with a Loop, which does not own it.
#pragma once

#include <cstdint>

namespace fairlead::net {

class EventHandler {
 public:
  // `events`: EPOLLIN, EPOLLOUT, EPOLLRDHUP, EPOLLHUP, EPOLLERR; edges, not levels.
  virtual void onEvents(uint32_t events) = 0;
  // Once for each Loop::flushAtEnd().
  virtual void onTurnEnd() {}
  // Its events come next but one, or next: what it points to, or what that points to, may be
  // fetched. A hint.
  enum class Ahead : uint8_t { Two, One };
  virtual void prefetch(Ahead) const {}

 protected:
  ~EventHandler() = default;
};

}  // namespace fairlead::net
