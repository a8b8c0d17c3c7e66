// One worker: its loop, its listeners and clusters, and all that its requests borrow. The root
// owner of everything on its thread, which it does not know: a driver gives it its turns
// (driver.h). Other threads only post.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "http/http2/stream_pool.h"
#include "log_files/log_files.h"
#include "net/internal_listeners.h"
#include "net/listener.h"
#include "net/loop.h"
#include "proxy/context.h"
#include "worker/delta.h"
#include "worker/listener_plan.h"

namespace fairlead::worker {

class Worker final : private net::ListenerDirectory,
                     private net::InternalListeners,
                     private net::Deferred {
 public:
  struct Intervals {
    // How long a log line may wait in the worker's buffer.
    net::Millis log_flush_ms = 10'000;
    // How long what a burst has left rests without being needed; at most twice.
    net::Millis trim_ms = 10'000;
  };
  // `on_left`: as of upstream::UpstreamContext.
  Worker(unsigned index, log_files::LogFiles& logs, const Intervals& intervals,
         std::function<void()> on_left = nullptr);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  unsigned index() const { return index_; }
  // errno of what the system refused it; 0: it may be started.
  int error() const { return loop_.error(); }
  // Any thread: when the turn began that is under way, 0: none is; who does it, 0: nobody yet.
  uint64_t busySince() const { return loop_.busySince(); }
  pid_t threadId() const { return thread_id_.load(std::memory_order_relaxed); }
  // Any thread. All connections end, those with a request under way a little later; then a turn
  // says that it was the last. Returns at once.
  void beginStop();
  // Any thread: `task` runs on the worker's thread, after all that was posted or to be taken up
  // before, once the worker has been started.
  void post(std::function<void()> task);
  // The control thread.
  void take(std::shared_ptr<const Delta> delta);

  // ---- its driver's, all on one thread: the worker's ----
  // Before the first turn.
  void begin();
  // Waits until there is something to do, and does one turn of it. False: that was the last.
  bool waitAndTurn() {
    loop_.turn(static_cast<int>(loop_.timers().untilNext(kLongestWaitMs)));
    return !is_stopping_ || finish();
  }
  // Never waits: turns until nothing is left to do or `budget_us` have passed, at least once and a
  // few events at a time. False: that was the last.
  bool turn(uint64_t budget_us);
  // When turn() has something to do though nothing comes, as of the clock of Loop::now(); 0: at
  // once.
  net::Millis due() const;
  // Readable: turn() has something to do.
  int descriptor() const { return loop_.descriptor(); }

  // ---- the worker's thread ----
  using SharedChains = std::shared_ptr<const FilterChainsPlan>;
  // Takes connections from here on.
  void addListener(const std::shared_ptr<const ListenerPlan>& plan, const SharedChains& chains,
                   std::vector<net::ListenSocket> sockets);
  // Takes no connections any more, but for those that wait already, unless they are left to another
  // listener with the same sockets, which may be added once this has returned.
  void drainListener(const ListenerPlan* plan, bool leaves_queue);
  // A drain has begun: connections that can tell their clients plan to.
  void tellDrain();
  // Ends what is left of one that drains.
  void endListener(const ListenerPlan* plan);
  // Chains that are no longer there drain.
  void setFilterChains(const ListenerPlan* plan, const SharedChains& chains);
  // Its connections that come later are made of this.
  void changeFilterChain(const ListenerPlan* plan,
                         const std::shared_ptr<const FilterChainPlan>& chain);
  void endFilterChains(const std::vector<uint64_t>& ids);
  void stopListener(const ListenerPlan* plan);
  void pauseListener(const ListenerPlan* plan);
  void resumeListener(const ListenerPlan* plan, const std::vector<net::ListenSocket>& sockets);
  // What another worker has accepted for this one.
  void takeBalanced(const net::ListenerConfig* listener, net::AcceptedSocket socket);
  // Before it is started: all workers there are, which outlive the last turn of each.
  void meet(const std::vector<std::unique_ptr<Worker>>& all) { all_ = &all; }
  // Before it is started: its thread, where it has one of its own, stays on one processor.
  void pin() { is_pinned_ = true; }
  bool isPinned() const { return is_pinned_; }
  // Before it is started: where requests of this proxy's own are counted.
  calls::Calls& calls() { return context_.calls; }
  void countCallsIn(stats::Shard<stats::AsyncClient>* stats) { context_.calls.countIn(stats); }
  // Before it is started: where it is recorded how long its turns take.
  void timeTurnsIn(stats::Shard<stats::Dispatcher>* times) { loop_.timeTurnsIn(times); }
  // What is shed from here on.
  void setOverload(const std::shared_ptr<const net::Overload::Update>& update);

 private:
  // Does the same again and again.
  class Chore final : public net::Timer {
   public:
    Chore(net::Loop& loop, net::Millis interval_ms, std::function<void()> work)
        : loop_(loop), interval_ms_(interval_ms), work_(std::move(work)) {}
    void arm() { loop_.timers().arm(this, loop_.now() + interval_ms_); }
    void onTimer() override {
      work_();
      arm();
    }

   private:
    net::Loop& loop_;
    const net::Millis interval_ms_;
    const std::function<void()> work_;
  };

  // Next in turn: either.
  struct Pending {
    std::shared_ptr<const Delta> delta;
    std::function<void()> task;
    size_t steps_done = 0;
  };

  static constexpr net::Millis kLongestWaitMs = 60'000;

  void enqueue(Pending pending);
  // As much of what is pending as requests may wait for.
  void takeUp();
  void onDeferred() override { takeUp(); }
  void apply(const ClusterChange& change);
  void apply(const HealthNews& news);
  void apply(const RouteChange& change);
  // The end, of which each turn does what it can. False: it is over.
  bool finish();
  void beginFinish();
  // Requests that have come get their answer, if it does not take long; all else ends.
  bool hasLastRequests();
  net::Listener* findListener(const net::Address& local) override;
  void handOver(unsigned worker, const net::ListenerConfig& listener,
                net::AcceptedSocket socket) override;
  net::FileDescriptor connect(const net::Address& to,
                              std::shared_ptr<const format::PassedMetadata> metadata,
                              const net::SharedStates* states) override;
  // Null: there is none.
  net::Listener* findListener(const ListenerPlan* plan);
  void setFilterChains(net::Listener& listener, const SharedChains& chains);
  std::unique_ptr<net::ConnectionFactory> makeFactory(const FilterChainPlan& chain);
  std::unique_ptr<net::ConnectionFactory> makeFactory(const FilterPlan& filter);
  template <typename Do>
  void forEachListener(Do act) {
    for (const auto& listener : listeners_) act(*listener);
    for (const auto& listener : draining_) act(*listener);
  }

  const unsigned index_;
  const std::vector<std::unique_ptr<Worker>>* all_ = nullptr;
  std::atomic<pid_t> thread_id_ = 0;
  net::Loop loop_;
  net::OutBatch batch_;
  net::SplicePipes pipes_;
  http::RequestHead request_scratch_;
  http::ResponseHead response_scratch_;
  http2::StreamPools http2_streams_;
  net::Overload overload_;
  const http::CodecScratch scratch_{batch_, request_scratch_, response_scratch_, &http2_streams_,
                                    overload_};
  Random random_;
  upstream::WorkerClusters clusters_;
  proxy::Context context_;
  using Listeners = std::vector<std::unique_ptr<net::Listener>>;
  Listeners listeners_;
  // They have only the connections that they have.
  Listeners draining_;
  // Hands log lines over.
  Chore flush_;
  // Gives back what a burst has left.
  Chore trim_;
  // At the end, looks whether connections have become quiet.
  Chore look_;
  std::deque<Pending> pending_;
  bool is_stopping_ = false;
  bool is_pinned_ = false;
  // When the end waits no longer; 0: it has not begun.
  net::Millis finish_by_ = 0;
};

}  // namespace fairlead::worker
