// One worker: a thread, its loop, its listeners and clusters, and all that its requests borrow. The
// root owner of everything on its thread. Other threads only post.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "access_log/log_files.h"
#include "base/thread.h"
#include "net/listener.h"
#include "net/loop.h"
#include "proxy/context.h"
#include "worker/delta.h"
#include "worker/listener_plan.h"

namespace fairlead::worker {

class Worker final : private net::ListenerDirectory, private net::Deferred {
 public:
  struct Intervals {
    // How long a log line may wait in the worker's buffer.
    net::Millis log_flush_ms = 10'000;
    // How long what a burst has left rests without being needed; at most twice.
    net::Millis trim_ms = 10'000;
  };
  Worker(unsigned index, access_log::LogFiles& logs, const Intervals& intervals);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  unsigned index() const { return index_; }
  // errno of what the system refused it; 0: it may be started.
  int error() const { return loop_.error(); }
  // The control thread. Returns errno; 0: its thread runs.
  int start();
  // All connections end, those with a request under way a little later, and then the thread.
  // Returns at once.
  void beginStop();
  // Any one thread: waits for the end.
  void join() { thread_.join(); }
  // Any thread: `task` runs on the worker's thread, after all that was posted or to be taken up
  // before, once the worker has been started.
  void post(std::function<void()> task);
  // The control thread.
  void take(std::shared_ptr<const Delta> delta);

  // The worker's thread.
  void addListener(const std::shared_ptr<const ListenerPlan>& plan,
                   std::vector<net::ListenSocket> sockets);
  void stopListener(const std::string& name);
  void pauseListener(const std::string& name);
  void resumeListener(const std::string& name, const std::vector<net::ListenSocket>& sockets);

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

  void run();
  void enqueue(Pending pending);
  // As much of what is pending as requests may wait for.
  void takeUp();
  void onDeferred() override { takeUp(); }
  void apply(const ClusterChange& change);
  void apply(const RouteChange& change);
  // Requests that have come get their answer, if it does not take long; all else ends.
  void finishRequests();
  net::Listener* findListener(const net::Address& local) override;
  std::unique_ptr<net::ConnectionFactory> makeFactory(const FilterChainPlan& chain);

  const unsigned index_;
  net::Loop loop_;
  net::OutBatch batch_;
  net::SplicePipes pipes_;
  http::RequestHead request_scratch_;
  http::ResponseHead response_scratch_;
  const http::CodecScratch scratch_{batch_, request_scratch_, response_scratch_};
  Random random_;
  upstream::WorkerClusters clusters_;
  proxy::Context context_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
  // Hands log lines over.
  Chore flush_;
  // Gives back what a burst has left.
  Chore trim_;
  std::deque<Pending> pending_;
  Thread thread_;
};

}  // namespace fairlead::worker
