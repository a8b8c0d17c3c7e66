#include "proxy/retry_state.h"

#include <algorithm>
#include <ctime>

#include "base/text.h"
#include "proxy/http_server.h"
#include "proxy/request_rules.h"

namespace fairlead::proxy {

using ClusterCounter = stats::Cluster::Counter;
using GroupCounter = stats::VirtualCluster::Counter;
using Kind = upstream::UpstreamError::Kind;
using http::HeaderId;
using route::RetryOn;

namespace {

constexpr uint32_t kGrpc = RetryOn::kGrpcCancelled | RetryOn::kGrpcDeadlineExceeded |
                           RetryOn::kGrpcInternal | RetryOn::kGrpcResourceExhausted |
                           RetryOn::kGrpcUnavailable;
constexpr uint64_t kMillion = 1'000'000;
constexpr uint16_t kTooEarly = 425;

}  // namespace

bool RetryState::begin(StreamInfo& info, const http::RequestHead& head, const RetryWishes& wishes) {
  const route::ClusterAction& action = *info.route->cluster;
  const route::RetryPolicy* const policy = retryPolicyOf(info);
  policy_ = policy ? policy : &route::RetryPolicy::none();
  retry_on_ = policy_->retry_on;
  route::readRetryOn(wishes.retry_on, &retry_on_);
  route::readRetryGrpcOn(wishes.retry_grpc_on, &retry_on_);
  const route::RequestView view{head.method, head.path,     head.authority,
                                info.scheme, &head.headers, 0};
  const auto fits = [&view](const route::HeaderMatch& match) { return match.matches(view); };
  const auto& request_headers = policy_->request_headers;
  if (!request_headers.empty() &&
      std::none_of(request_headers.begin(), request_headers.end(), fits)) {
    retry_on_ = 0;
  }
  if (retry_on_ == 0) return false;
  retries_left_ = policy_->plan.num_retries;
  readWishes(wishes);
  runtime_ = &info.virtual_host->retry_runtime;
  next_interval_ms_ = std::max<net::Millis>(
      1, policy_->plan.base_interval_ms.value_or(runtime_->base_interval_ms.value()));
  max_interval_ms_ =
      policy_->plan.max_interval_ms > 0 ? policy_->plan.max_interval_ms : next_interval_ms_ * 10;
  is_early_data_ = head.headers.find("early-data") != nullptr;
  hosts_.begin(policy_->plan.hosts ? &*policy_->plan.hosts : nullptr);
  priority_ = action.plan.priority;
  random_ = &info.context().upstream.random;
  info_ = &info;
  if (policy_->plan.refreshes_cluster) readClusters(view);
  cluster_ = info.cluster;
  cluster_->hold();
  return true;
}

void RetryState::readWishes(const RetryWishes& wishes) {
  uint64_t number = 0;
  // Of which the real server keeps 32 bits.
  if (parseSpokenNumber(wishes.max_retries, &number)) retries_left_ = static_cast<uint32_t>(number);
  more_status_codes_.clear();
  forEachToken(wishes.status_codes, [&](std::string_view code) {
    if (parseSpokenNumber(code, &number) && number < 1000) {
      more_status_codes_.push_back(static_cast<uint16_t>(number));
    }
    return true;
  });
  header_names_.clear();
  forEachToken(wishes.header_names, [&](std::string_view name) {
    if (name.empty()) return true;
    std::string& lower = header_names_.emplace_back(name);
    for (char& c : lower) c = lowerAscii(c);
    return true;
  });
}

void RetryState::readClusters(const route::RequestView& view) {
  tried_.clear();
  header_clusters_.clear();
  for (const route::Target& target : info_->route->cluster->targets) {
    std::string_view name;
    if (!target.cluster) view.header(target.cluster_header, &name);
    header_clusters_.emplace_back(name);
  }
}

void RetryState::end() {
  if (!cluster_) return;
  giveBack();
  cluster_->letGo();
  cluster_ = nullptr;
}

void RetryState::giveBack() {
  if (std::exchange(holds_retry_, false)) limits().retries.giveBack();
}

// ---- whether ----

RetryState::Verdict RetryState::afterHead(const http::ResponseHead& head) {
  forgetAnswer();
  const bool is_worth_retry = isWorthRetry(head);
  if (is_worth_retry) {
    is_immediate_ = head.status == kTooEarly;
    readResetHeaders(head.headers);
  }
  return decide(is_worth_retry);
}

RetryState::Verdict RetryState::afterError(const upstream::UpstreamError& error) {
  forgetAnswer();
  return decide(isWorthRetry(error.kind, error.request_began));
}

RetryState::Verdict RetryState::afterTryTimeout() {
  forgetAnswer();
  return decide(true);
}

void RetryState::forgetAnswer() {
  reset_interval_ms_ = 0;
  is_immediate_ = false;
}

bool RetryState::isWorthRetry(const http::ResponseHead& head) const {
  // Who limits the rate of requests does not want them again, unless that was expected.
  if (head.headers.find(HeaderId::XEnvoyRateLimited)) return wants(RetryOn::kRateLimited);
  const uint16_t status = head.status;
  if (wants(RetryOn::k5xx) && status >= 500 && status < 600) return true;
  if (wants(RetryOn::kGatewayError) && status >= 502 && status <= 504) return true;
  if (wants(RetryOn::kRetriable4xx) && status == 409) return true;
  if (wants(RetryOn::kStatusCodes) && hasRetriableStatus(status)) {
    return status != kTooEarly || !is_early_data_;
  }
  if (wants(RetryOn::kHeaders) && hasRetriableHeader(head)) return true;
  if (!wants(kGrpc)) return false;
  const http::HeaderEntry* grpc_status = head.headers.find(HeaderId::GrpcStatus);
  return grpc_status && wants(route::retryOnOfGrpcStatus(grpc_status->value()));
}

bool RetryState::hasRetriableStatus(uint16_t status) const {
  const auto& codes = policy_->plan.status_codes;
  return std::find(codes.begin(), codes.end(), status) != codes.end() ||
         std::find(more_status_codes_.begin(), more_status_codes_.end(), status) !=
             more_status_codes_.end();
}

bool RetryState::hasRetriableHeader(const http::ResponseHead& head) const {
  const char status[] = {static_cast<char>('0' + head.status / 100),
                         static_cast<char>('0' + head.status / 10 % 10),
                         static_cast<char>('0' + head.status % 10)};
  for (const route::HeaderMatch& match : policy_->headers) {
    if (match.matchesAnswer(head.headers, {status, sizeof(status)})) return true;
  }
  for (const std::string& name : header_names_) {
    if (head.headers.find(std::string_view(name))) return true;
  }
  return false;
}

bool RetryState::isWorthRetry(Kind kind, bool request_began) const {
  if (kind == Kind::Overflow) return false;
  // A try that broke off counts as a 5xx: it would become one.
  if (wants(RetryOn::kReset | RetryOn::k5xx | RetryOn::kGatewayError)) return true;
  if (wants(RetryOn::kResetBeforeRequest) && !request_began) return true;
  if (wants(RetryOn::kRefusedStream) && kind == Kind::RemoteRefused) return true;
  return wants(RetryOn::kConnectFailure) && upstream::isOfConnecting(kind);
}

RetryState::Verdict RetryState::decide(bool is_worth_retry) {
  // The retry that this is about did its work.
  if (holds_retry_ && !is_worth_retry)
    count(ClusterCounter::UpstreamRqRetrySuccess, GroupCounter::UpstreamRqRetrySuccess);
  giveBack();
  if (!is_worth_retry) return Verdict::Enough;
  if (retries_left_ == 0) {
    count(ClusterCounter::UpstreamRqRetryLimitExceeded, GroupCounter::UpstreamRqRetryLimitExceeded);
    return Verdict::LimitExceeded;
  }
  --retries_left_;
  if (!limits().canRetry()) {
    count(ClusterCounter::UpstreamRqRetryOverflow, GroupCounter::UpstreamRqRetryOverflow);
    return Verdict::Overflow;
  }
  const uint64_t allowed = runtime_->allowed_millionths.value();
  if (allowed < kMillion && random_->below(kMillion) >= allowed) return Verdict::Enough;
  if (policy_->plan.refreshes_cluster) refreshCluster();
  limits().retries.take();
  holds_retry_ = true;
  count(ClusterCounter::UpstreamRqRetry, GroupCounter::UpstreamRqRetry);
  return Verdict::Retry;
}

// As in the real server the limits of the cluster that failed allow the retry, and the next one
// counts it.
void RetryState::refreshCluster() {
  const route::ClusterAction& action = *info_->route->cluster;
  if (action.targets.size() == 1) return;
  tried_.push_back(info_->target);
  const route::Target& target = action.pickOther(tried_, random_->next());
  info_->target = &target;
  info_->touchUncommon().cluster_name =
      target.cluster ? target.cluster.name()
                     : header_clusters_[static_cast<size_t>(&target - action.targets.data())];
  upstream::WorkerCluster* const next = info_->findTarget();
  if (!next) return;
  next->hold();
  cluster_->letGo();
  cluster_ = next;
}

// ---- when ----

// The first header that is there and asks for no more than the policy allows counts.
void RetryState::readResetHeaders(const http::HeaderMap& headers) {
  for (const route::ResetHeader& reset : policy_->reset_headers) {
    const http::HeaderEntry* entry = reset.name.find(headers);
    uint64_t seconds = 0;
    if (!entry || !parseSpokenNumber(entry->value(), &seconds)) continue;
    if (reset.is_unix_timestamp) {
      const auto now = static_cast<uint64_t>(::time(nullptr));
      if (seconds < now) continue;
      seconds -= now;
    }
    if (seconds > policy_->plan.reset_max_interval_ms / 1000) continue;
    reset_interval_ms_ = seconds * 1000;
    return;
  }
}

// What a host asks for is not undercut; otherwise all of the interval is jitter.
net::Millis RetryState::backOffMs() {
  if (is_immediate_) return 0;
  if (reset_interval_ms_ > 0) {
    stats().add(ClusterCounter::UpstreamRqRetryBackoffRatelimited);
    return reset_interval_ms_ + random_->below(reset_interval_ms_ / 2);
  }
  stats().add(ClusterCounter::UpstreamRqRetryBackoffExponential);
  const net::Millis interval = std::min(next_interval_ms_, max_interval_ms_);
  next_interval_ms_ = std::min(next_interval_ms_ * 2, max_interval_ms_);
  return random_->below(interval);
}

void RetryState::count(ClusterCounter counter, GroupCounter group_counter) {
  stats().add(counter);
  const unsigned worker = info_->context().upstream.worker;
  if (info_->group) info_->group->stats->shard(worker + 1)->add(group_counter);
  if (info_->route && info_->route->group) {
    info_->route->group->shard(worker + 1)->add(group_counter);
  }
}

}  // namespace fairlead::proxy
