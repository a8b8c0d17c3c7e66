// What is left of a request's retries: decides after each try whether there is another and when,
// and holds its place in the cluster's limits. Made for the first request of a stream that may be
// tried again, and used again. The worker's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"
#include "net/timer_wheel.h"
#include "proxy/stream_info.h"
#include "upstream/retry_hosts.h"
#include "upstream/upstream_error.h"

namespace fairlead::proxy {

// What a request's own headers ask of its retries. Views into its head; null data: nothing.
struct RetryWishes {
  std::string_view retry_on;
  std::string_view retry_grpc_on;
  std::string_view max_retries;
  std::string_view status_codes;
  std::string_view header_names;

  bool askForRetries() const { return retry_on.data() || retry_grpc_on.data(); }
};

class RetryState {
 public:
  RetryState() = default;
  RetryState(const RetryState&) = delete;
  RetryState& operator=(const RetryState&) = delete;
  ~RetryState() { FL_DCHECK(!cluster_); }

  enum class Verdict : uint8_t {
    // It did not fail, or not in such a way.
    Enough,
    Retry,
    // It would have been tried again, but for the number of its retries, or for the cluster's
    // limit.
    LimitExceeded,
    Overflow,
  };

  // `info` knows route and cluster; `head` is the request's as it goes out. False: nothing is worth
  // a retry, and end() need not be called.
  // `info` lives until end(): a policy may have its retries go to other clusters.
  bool begin(StreamInfo& info, const http::RequestHead& head, const RetryWishes& wishes);
  Verdict afterHead(const http::ResponseHead& head);
  Verdict afterError(const upstream::UpstreamError& error);
  // A try takes so long that another one goes beside it.
  Verdict afterTryTimeout();
  // Whether an answer would be reason for another try, were there one left.
  bool isWorthRetry(const http::ResponseHead& head) const;
  // How long to wait before the retry that was granted.
  net::Millis backOffMs();
  // No more retries.
  void end();

  upstream::RetryHosts& hosts() { return hosts_; }

 private:
  bool wants(uint32_t bits) const { return (retry_on_ & bits) != 0; }
  bool isWorthRetry(upstream::UpstreamError::Kind kind, bool request_began) const;
  bool hasRetriableStatus(uint16_t status) const;
  bool hasRetriableHeader(const http::ResponseHead& head) const;
  void readWishes(const RetryWishes& wishes);
  void readClusters(const route::RequestView& view);
  void readResetHeaders(const http::HeaderMap& headers);
  Verdict decide(bool is_worth_retry);
  void refreshCluster();
  // What the latest answer asked for, of this request or of one before it.
  void forgetAnswer();
  void giveBack();
  // Of the cluster, and where the request is counted apart.
  void count(stats::Cluster::Counter counter, stats::VirtualCluster::Counter group_counter);
  stats::Shard<stats::Cluster>& stats() { return cluster_->stats(); }
  upstream::Limits& limits() { return cluster_->cluster().limits(priority_); }

  // Null: it has ended.
  upstream::WorkerCluster* cluster_ = nullptr;
  StreamInfo* info_ = nullptr;
  // Where each retry goes to another of the route's clusters: those that were asked.
  std::vector<const route::Target*> tried_;
  // Those of them that headers of the request name, in the order of the route's.
  std::vector<std::string> header_clusters_;
  Random* random_ = nullptr;
  const route::RetryPolicy* policy_ = nullptr;
  const route::RetryRuntime* runtime_ = nullptr;
  upstream::RetryHosts hosts_;
  uint32_t retry_on_ = 0;
  uint64_t retries_left_ = 0;
  // Of the request's own headers, besides the policy's.
  std::vector<uint16_t> more_status_codes_;
  std::vector<std::string> header_names_;
  net::Millis next_interval_ms_ = 0;
  net::Millis max_interval_ms_ = 0;
  // As the latest answer asked for; 0: it did not.
  net::Millis reset_interval_ms_ = 0;
  uint32_t priority_ = 0;
  // One of the cluster's retries is its own, from when it was granted to the next verdict.
  bool holds_retry_ = false;
  // Its client sent it before it knew that its connection is its own (RFC 8470).
  bool is_early_data_ = false;
  bool is_immediate_ = false;
};

}  // namespace fairlead::proxy
