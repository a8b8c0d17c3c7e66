// One thread's event loop over one epoll. Owns the clock, the timers, the inbox and the read buffer
// that all its connections share. Who owns it gives it its turns, always on the same thread;
// post() is anyone's.
//
// Each descriptor is registered once, for IN|OUT|RDHUP, edge-triggered, and never modified (a
// modification per event costs 17 %). So whoever stops reading remembers that bytes may be waiting,
// and reads again later without a new event.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/slab.h"
#include "base/stale.h"
#include "net/event_handler.h"
#include "net/inbox.h"
#include "net/out_batch.h"
#include "net/slow_peer.h"
#include "net/timer_wheel.h"
#include "stats/catalogue.gen.h"
#include "stats/shard.h"

struct epoll_event;

namespace fairlead::net {

// Something whose end waits for the end of the turn: events of the same batch may still name it.
class Mortal {
 public:
  virtual ~Mortal() = default;
};

// Work of one connection that goes on later: at the end of the turn, or in the next one, so that
// the others have theirs in between. Leaves by itself when it is destroyed.
class Deferred : public ListNode<Deferred> {
 public:
  virtual void onDeferred() = 0;

 protected:
  ~Deferred() = default;
};

class Loop {
 public:
  // One hot buffer, in cache, instead of one per connection (16 KiB per connection: +30 %).
  static constexpr size_t kReadBufferBytes = 64 * 1024;
  // Handled in one turn, at most.
  static constexpr int kMaxEvents = 256;

  // What it needs of the system may be refused: ask error() before anything else.
  Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();
  // errno of what was refused; 0: nothing.
  int error() const { return error_; }

  // One turn: waits at most `timeout_ms`, handles what came, ends the dead. Returns how many events
  // came; there may be more when they are `max_events`.
  int turn(int timeout_ms, int max_events = kMaxEvents);
  // Something of earlier turns goes on in the next one, event or not.
  bool hasWork() const {
    return !(yielded_.empty() && dirty_.empty() && deferred_.empty()) ||
           (batch_ && batch_->hasPosted());
  }
  // Readable, as long as there are events: for whoever waits elsewhere than in turn().
  int descriptor() const { return epoll_; }

  // False when the kernel refuses: errno says why, and so does the log. Closing the descriptor
  // unregisters it.
  bool add(int fd, EventHandler* handler);
  // Needed before closing only what has a duplicate: the kernel watches until the last one closes.
  void remove(int fd);
  void post(std::function<void()> task) { inbox_.post(std::move(task)); }
  // The loop turns no more: tasks that wait, or that are posted later, are dropped.
  void closeInbox() { inbox_.close(); }
  // `work` is called once, when the events of this turn have been handled.
  void defer(Deferred* work) {
    if (!work->isLinked()) deferred_.pushBack(work);
  }
  // `work` is called once, in the next turn.
  void yield(Deferred* work) {
    if (!work->isLinked()) yielded_.pushBack(work);
  }
  // `handler` hears onTurnEnd() once deferred work is done: bytes that several gave it leave then.
  void flushAtEnd(EventHandler* handler) { dirty_.push_back(handler); }
  // `handler` ends before that.
  void forget(EventHandler* handler) { std::erase(dirty_, handler); }
  // `object` is deleted at the end of this turn.
  void bury(std::unique_ptr<Mortal> object) { dead_.push_back(std::move(object)); }

  // Any thread: when the turn began that is under way; 0: it waits for events.
  uint64_t busySince() const { return busy_since_us_.load(std::memory_order_relaxed); }

  // Which turn this is; begins anew after 2^32.
  uint32_t turnNumber() const { return turn_; }
  // Milliseconds and microseconds of the monotonic clock at the start of this turn.
  Millis now() const { return now_us_ / 1000; }
  uint64_t nowMicros() const { return now_us_; }
  // Before the first turn: where it is recorded how long turns take; not called: nowhere.
  void timeTurnsIn(stats::Shard<stats::Dispatcher>* times) { times_ = times; }
  // The clock read now: for durations that a turn's time is too coarse for.
  static uint64_t readClockMicros();
  TimerWheel& timers() { return timers_; }
  const TimerWheel& timers() const { return timers_; }
  SlabPool& slabs() { return slabs_; }
  SlowPeers& slowPeers() { return slow_peers_; }

  // What is posted there leaves within the turn. No handler may leave anything else there
  // (`net/out_batch`): where tests run, it looks.
  void useBatch(OutBatch& batch) { batch_ = &batch; }
  OutBatch* batch() const { return batch_; }

  // Holds one connection's bytes, and only until its handler returns.
  char* readBuffer() {
    markFresh(read_buffer_.get(), kReadBufferBytes);
    return read_buffer_.get();
  }

 private:
  void runYielded();
  static void prefetchAfter(const epoll_event* event, const epoll_event* end);
  void checkBatch() const;
  void deliverPosted() {
    if (batch_ && batch_->hasPosted()) batch_->deliver();
  }
  void finishTurn();
  // `began_us`: when it began to wait.
  void timeWait(uint64_t began_us, int timeout_ms);

  int error_ = 0;
  int epoll_ = -1;
  uint64_t now_us_;
  std::atomic<uint64_t> busy_since_us_ = 0;
  uint32_t turn_ = 0;
  TimerWheel timers_;
  SlabPool slabs_;
  SlowPeers slow_peers_;
  Inbox inbox_;
  std::unique_ptr<char[]> read_buffer_;
  OutBatch* batch_ = nullptr;
  stats::Shard<stats::Dispatcher>* times_ = nullptr;
  List<Deferred> deferred_;
  List<Deferred> yielded_;
  std::vector<EventHandler*> dirty_;
  std::vector<EventHandler*> flushing_;
  std::vector<std::unique_ptr<Mortal>> dead_;
};

}  // namespace fairlead::net
