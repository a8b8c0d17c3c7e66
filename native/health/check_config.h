// How the hosts of a cluster are checked, as all of its checks share it. Made by the control
// thread; immutable but for its statistics and its round, which are the checker's.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/codec_settings.h"
#include "log_files/log_files.h"
#include "match/string_matcher.h"
#include "plan/plan.gen.h"
#include "route/header_mutations.h"
#include "stats/registry.h"
#include "upstream/cluster.h"

namespace fairlead::health {

using Stats = stats::Block<stats::HealthCheck>;

// What a cluster waits for before it is used: as the real server, so many checks as there were
// hosts to be checked when it began to wait, whichever hosts they are of. A host that goes before
// its first check counts as well.
class Round {
 public:
  // So many checks are waited for, of which those that have ended before may be some. True: there
  // are as many already.
  bool begin(size_t checks, bool with_earlier) {
    left_ = checks - std::min(checks, with_earlier ? ended_ : 0);
    return left_ == 0;
  }
  // One has ended. True: it was the last.
  bool count() {
    ++ended_;
    return leave();
  }
  // One that was waited for never comes. As count().
  bool leave() { return left_ > 0 && --left_ == 0; }
  // Nobody waits any more.
  void forget() { left_ = 0; }

 private:
  size_t left_ = 0;
  size_t ended_ = 0;
};

class CheckConfig {
 public:
  // `thread`: the checker's number among the workers. The error says which file cannot be opened,
  // or what pattern is wrong.
  static Result<std::shared_ptr<const CheckConfig>> build(
      std::shared_ptr<upstream::Cluster> cluster, stats::Registry& registry,
      log_files::LogFiles& logs, unsigned thread);

  upstream::Cluster& cluster() const { return *cluster_; }
  const plan::HealthCheck& plan() const { return *cluster_->settings().health_check; }
  unsigned thread() const { return thread_; }
  // The checker's thread.
  stats::Shard<stats::HealthCheck>& stats() const { return *stats_->shard(thread_ + 1); }
  stats::Shard<stats::Http2Codec>* http2Stats() const {
    stats::Block<stats::Http2Codec>* block = cluster_->http2Stats();
    return block ? block->shard(thread_ + 1) : nullptr;
  }
  Round& round() const { return round_; }
  const std::vector<std::shared_ptr<log_files::LogFile>>& eventLogs() const { return event_logs_; }
  const http::ClientSettings& client() const { return client_; }
  const route::HeaderMutations& mutations() const { return mutations_; }
  // Absent: answers need not say whose they are.
  const std::optional<match::StringMatcher>& serviceName() const { return service_name_; }
  // Whom the host is asked for.
  std::string_view hostOf(const upstream::Host& host) const;
  // Null: as for requests.
  const net::SharedTransport* transport() const {
    return by_labels_ ? &cluster_->transportOf(*by_labels_) : nullptr;
  }
  // Whether anybody has used the cluster, or the one that it has taken the place of. Any thread.
  bool hasTraffic() const {
    return had_traffic_ || cluster_->stats().counted(stats::Cluster::Counter::UpstreamCxTotal) > 0;
  }
  // The cluster has a codec of HTTP/1 from here on.
  void showHttp1() const { cluster_->stats().showCompanions(); }
  // With the cluster's requests, as the real server.
  void countProtocolError() const {
    cluster_->stats().shard(thread_ + 1)->add(stats::Cluster::Counter::UpstreamCxProtocolError);
  }
  // Of each connection that has a socket of its own.
  void countTransport() const;
  bool speaksHttp2() const {
    return plan().kind == plan::HealthCheck::Kind::Grpc || plan().is_http2 || plan().is_by_alpn;
  }

 private:
  std::shared_ptr<upstream::Cluster> cluster_;
  std::shared_ptr<Stats> stats_;
  mutable Round round_;
  unsigned thread_ = 0;
  bool had_traffic_ = false;
  std::vector<std::shared_ptr<log_files::LogFile>> event_logs_;
  http::ClientSettings client_;
  route::HeaderMutations mutations_;
  std::optional<match::StringMatcher> service_name_;
  // What takes the check's own labels, null: nothing does. Absent: it has none.
  std::optional<const upstream::TransportMatch*> by_labels_;
};

}  // namespace fairlead::health
