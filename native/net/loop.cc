#include "net/loop.h"

#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/prefetch.h"
#include "log/log.h"
#include "log/seldom.h"

namespace fairlead::net {

namespace {
// Deferred work may defer more; beyond this many rounds new events come first.
constexpr int kMaxRounds = 16;
// What most handlers take.
constexpr size_t kEventHandlerBytes = 192;
}  // namespace

uint64_t Loop::readClockMicros() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

Loop::Loop()
    : now_us_(readClockMicros()),
      timers_(now_us_ / 1000),
      read_buffer_(std::make_unique_for_overwrite<char[]>(kReadBufferBytes)) {
  if (inbox_.fd() >= 0) epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0 || !add(inbox_.fd(), &inbox_)) error_ = errno;
}

Loop::~Loop() {
  if (epoll_ >= 0) ::close(epoll_);
}

bool Loop::add(int fd, EventHandler* handler) {
  epoll_event event;
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = handler;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0) return true;
  const int error = errno;
  static thread_local log::Seldom seldom;
  if (error != EEXIST && seldom.isDue()) {
    log::error(log::Component::Io, "cannot watch a descriptor: ", [error]() -> std::string_view {
      return std::strerror(error);
    });
  }
  errno = error;
  return false;
}

void Loop::remove(int fd) { ::epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr); }

int Loop::turn(int timeout_ms, int max_events) {
  epoll_event events[kMaxEvents];
  // Of whoever acted between two turns.
  deliverPosted();
  const int wait = hasWork() ? 0 : timeout_ms;
  busy_since_us_.store(0, std::memory_order_relaxed);
  const uint64_t wait_us = times_ ? readClockMicros() : 0;
  const int count = ::epoll_wait(epoll_, events, std::min(max_events, kMaxEvents), wait);
  // Else it is no epoll.
  FL_CHECK(count >= 0 || errno == EINTR);
  ++turn_;
  now_us_ = readClockMicros();
  busy_since_us_.store(now_us_, std::memory_order_relaxed);
  if (times_) [[unlikely]]
    timeWait(wait_us, wait);
  timers_.advance(now());
  checkBatch();
  if (!yielded_.empty()) runYielded();
  for (int i = 0; i < count; ++i) {
    prefetchAfter(events + i, events + count);
    static_cast<EventHandler*>(events[i].data.ptr)->onEvents(events[i].events);
    checkBatch();
  }
  finishTurn();
  // The dying may bury others.
  while (!dead_.empty()) {
    std::vector<std::unique_ptr<Mortal>> dead;
    dead.swap(dead_);
  }
  if (times_) [[unlikely]]
    times_->record(stats::Dispatcher::Histogram::LoopDurationUs, readClockMicros() - now_us_);
  return count;
}

void Loop::timeWait(uint64_t began_us, int timeout_ms) {
  // Sooner, something came: that is no delay.
  const uint64_t due_us = began_us + static_cast<uint64_t>(timeout_ms) * 1000;
  if (now_us_ < due_us) return;
  times_->record(stats::Dispatcher::Histogram::PollDelayUs, now_us_ - due_us);
}

// Three events ahead its handler itself, and as it comes nearer what is reached from there.
void Loop::prefetchAfter(const epoll_event* event, const epoll_event* end) {
  const auto handler = [event](int ahead) {
    return static_cast<const EventHandler*>(event[ahead].data.ptr);
  };
  if (end - event > 3) fairlead::prefetch(handler(3), kEventHandlerBytes);
  if (end - event > 2) handler(2)->prefetch(EventHandler::Ahead::Two);
  if (end - event > 1) handler(1)->prefetch(EventHandler::Ahead::One);
}

void Loop::checkBatch() const { FL_DCHECK(!batch_ || batch_->empty()); }

void Loop::runYielded() {
  List<Deferred> due;
  yielded_.moveAllTo(due);
  while (Deferred* work = due.popFront()) {
    work->onDeferred();
    checkBatch();
  }
}

void Loop::finishTurn() {
  deliverPosted();
  for (int round = 0; round < kMaxRounds && !(deferred_.empty() && dirty_.empty()); ++round) {
    List<Deferred> due;
    deferred_.moveAllTo(due);
    while (Deferred* work = due.popFront()) {
      work->onDeferred();
      checkBatch();
    }
    flushing_.swap(dirty_);
    for (EventHandler* handler : flushing_) {
      handler->onTurnEnd();
      checkBatch();
    }
    flushing_.clear();
  }
  deliverPosted();
  deferred_.moveAllTo(yielded_);
}

}  // namespace fairlead::net
