// How the hosts of a cluster are asked for their load, as all of its questions share it. Made by
// the control thread; immutable but for its statistics, which are the checker's.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "http/codec_settings.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"
#include "upstream/cluster.h"

namespace fairlead::health {

class LoadConfig {
 public:
  // `thread`: the checker's number among the workers. The cluster asks its hosts.
  static std::shared_ptr<const LoadConfig> build(std::shared_ptr<upstream::Cluster> cluster,
                                                 stats::Registry& registry, unsigned thread);

  upstream::Cluster& cluster() const { return *cluster_; }
  const plan::LoadQuestions& plan() const { return *cluster_->settings().load_questions; }
  unsigned thread() const { return thread_; }
  // The checker's thread.
  stats::Shard<stats::LoadQuestions>& stats() const { return *stats_->shard(thread_ + 1); }
  stats::Shard<stats::Http2Codec>* http2Stats() const {
    return cluster_->http2Stats()->shard(thread_ + 1);
  }
  const http::ClientSettings& client() const { return client_; }
  // Null: as for requests.
  const net::SharedTransport* transport() const { return transport_ ? &*transport_ : nullptr; }
  // A host that is silent for so long is asked anew.
  uint64_t patienceMs() const;
  // The body of what it is asked: a message in its frame.
  const std::string& question() const { return question_; }

 private:
  std::shared_ptr<upstream::Cluster> cluster_;
  std::shared_ptr<stats::Block<stats::LoadQuestions>> stats_;
  unsigned thread_ = 0;
  http::ClientSettings client_;
  std::optional<net::SharedTransport> transport_;
  std::string question_;
};

}  // namespace fairlead::health
