// An accepted socket whose listener filters are not through with it. It has no handler yet and no
// filter chain; its listener counts it and ends it. The worker's thread.
//
// Bytes are peeked at and stay with the kernel, unless a filter takes them: who gets the socket
// finds them there.
#pragma once

#include <memory>

#include "base/list.h"
#include "net/event_handler.h"
#include "net/listener_filter.h"
#include "net/loop.h"

namespace fairlead::net {

class PendingConnection final : public EventHandler,
                                public Mortal,
                                public ListNode<PendingConnection>,
                                private EarlySocket,
                                private Timer {
 public:
  enum class Outcome : uint8_t {
    Passed,
    // A filter does not want it.
    Refused,
    ClosedByPeer,
    Failed,
    TimedOut,
    Aborted,
  };
  class Owner {
   public:
    // Once. What is left of the socket may be taken.
    virtual void onOutcome(PendingConnection& pending, Outcome outcome) = 0;

   protected:
    ~Owner() = default;
  };

  // `filters` outlives it. `timeout_ms`: 0: none.
  PendingConnection(Loop& loop, Owner& owner, const ListenerFilters& filters, unsigned worker,
                    AcceptedSocket socket);

  // Looks at what is there; the owner may hear the outcome at once. Otherwise it waits for more, no
  // longer than `timeout_ms`, if that is not 0.
  void start(Millis timeout_ms);
  // Outcome::Aborted.
  void abort() { end(Outcome::Aborted); }
  // Nothing has come, for a while.
  bool isQuiet() const;
  AcceptedSocket takeSocket() { return std::move(socket_); }

 private:
  void onEvents(uint32_t events) override;
  void onTimer() override { end(Outcome::TimedOut); }

  // EarlySocket
  AcceptedSocket& socket() override { return socket_; }
  std::string_view peek() override;
  bool take(size_t bytes) override;

  enum class Peer : uint8_t { There, Ended, Failed };
  // Has the filters look, each in its turn.
  void run();
  // True: all are through. False: one waits, or this is over.
  bool runFilters();
  void end(Outcome outcome);

  Loop& loop_;
  Owner& owner_;
  const ListenerFilters& filters_;
  const unsigned worker_;
  AcceptedSocket socket_;
  // The one whose turn it is.
  size_t next_ = 0;
  std::unique_ptr<ListenerFilter> filter_;
  Peer peer_ = Peer::There;
  bool has_bytes_ = false;
  bool is_watched_ = false;
  bool over_ = false;
};

}  // namespace fairlead::net
