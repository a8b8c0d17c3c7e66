// All health checks of the process, and all questions for hosts' load: a loop of their own, on a
// thread of its own once there are any. So they come in time however busy workers are. What checks
// find out goes to the control thread by the inbox; loads are left with their hosts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/thread.h"
#include "health/check.h"
#include "health/load_session.h"
#include "http/http2/stream_pool.h"

namespace fairlead::health {

class Checker {
 public:
  using Hosts = std::shared_ptr<const upstream::HostSet>;

  explicit Checker(std::shared_ptr<upstream::HealthInbox> inbox) : inbox_(std::move(inbox)) {}
  ~Checker();
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  // ---- the control thread's ----
  // These hosts of the configuration's cluster are checked from here on, and no others. The error
  // is of what the system refuses.
  Result<void> check(std::shared_ptr<const CheckConfig> config, Hosts hosts);
  void remove(upstream::ClusterLife cluster);
  // As many checks as it has hosts now are waited for, of which those that have ended before may be
  // some; the inbox hears of their end, at once where there are none.
  void beginRound(upstream::ClusterLife cluster, bool with_earlier);
  // The same of questions for load. A host that has given up is not asked again as long as it is
  // there.
  Result<void> ask(std::shared_ptr<const LoadConfig> config, Hosts hosts);
  void stopAsking(uint32_t cluster);
  // The host has said in an answer that it is not well.
  void onSaidUnwell(upstream::ClusterLife cluster, std::weak_ptr<upstream::Host> host);
  // No check comes any more. Asked for first, then waited for.
  void beginStop();
  void awaitStop() { thread_.join(); }

  // Any thread: `task` runs where checks do, or here as long as there are none.
  void run(std::function<void()> task);

 private:
  // What only the checker's thread has, but for the posting to its loop.
  struct Engine {
    explicit Engine(upstream::HealthInbox& inbox) : context{loop, scratch, random, inbox} {}

    net::Loop loop;
    net::OutBatch batch;
    http::RequestHead request;
    http::ResponseHead response;
    http2::StreamPools streams;
    const http::CodecScratch scratch{batch, request, response, &streams};
    Random random;
    CheckContext context;
    bool is_stopping = false;
    struct ClusterChecks {
      std::shared_ptr<const CheckConfig> config;
      // What its checks read of hosts lives as long as this.
      Hosts hosts;
      std::unordered_map<const upstream::Host*, std::unique_ptr<Check>> checks;
    };
    // One that waits to take another's place is checked beside it.
    std::unordered_map<upstream::ClusterLife, ClusterChecks> clusters;
    struct ClusterQuestions {
      std::shared_ptr<const LoadConfig> config;
      Hosts hosts;
      std::unordered_map<const upstream::Host*, std::unique_ptr<LoadSession>> sessions;
    };
    // By the number of its name.
    std::map<uint32_t, ClusterQuestions> questions;

    void ask(const std::shared_ptr<const LoadConfig>& config, const Hosts& hosts);
    void stopAsking(uint32_t cluster);
    void check(const std::shared_ptr<const CheckConfig>& config, const Hosts& hosts);
    void remove(upstream::ClusterLife cluster);
    void beginRound(upstream::ClusterLife cluster, bool with_earlier);
    void onSaidUnwell(upstream::ClusterLife cluster, const std::weak_ptr<upstream::Host>& host);
    // What there was of a cluster is not held here any more.
    void tellLeft();
    void work();
  };

  Result<void> start();

  const std::shared_ptr<upstream::HealthInbox> inbox_;
  // Held while it starts, or while somebody's task runs because it has not.
  std::mutex mutex_;
  // Null until there is something to check.
  std::unique_ptr<Engine> engine_;
  Thread thread_;
};

}  // namespace fairlead::health
