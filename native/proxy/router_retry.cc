// A router's tries: when there is another one, and how long each may take.
#include <algorithm>

#include "proxy/request_rules.h"
#include "proxy/router.h"
#include "proxy/stream.h"

namespace fairlead::proxy {

using ClusterCounter = stats::Cluster::Counter;

// Requests without a policy, which ask for nothing themselves, go no further than the first line.
void Router::beginRetries(const http::RequestHead& head, const RetryWishes& wishes) {
  if (!retryPolicyOf(info_) && !wishes.askForRetries()) return;
  if (!retry_) retry_ = std::make_unique<RetryState>();
  retries_on_ = retry_->begin(info_, head, wishes);
}

void Router::endRetries() {
  if (std::exchange(retries_on_, false)) retry_->end();
}

// ---- another try ----

bool Router::isRetried(RetryState::Verdict verdict, bool is_after_timeout) {
  switch (verdict) {
    case RetryState::Verdict::Enough:
      return false;
    case RetryState::Verdict::LimitExceeded:
      info_.flags.set(Flag::UpstreamRetryLimitExceeded);
      return false;
    case RetryState::Verdict::Overflow:
      info_.flags.set(Flag::UpstreamOverflow);
      return false;
    case RetryState::Verdict::Retry:
      break;
  }
  retry_is_after_timeout_ = is_after_timeout;
  retry_at_ = loop().now() + retry_->backOffMs();
  watch(retry_at_);
  return true;
}

bool Router::hasOtherTry(const Attempt& than) const {
  if (retry_at_ != net::kNever) return true;
  if (&first_ != &than && first_.awaitsHead()) return true;
  return std::any_of(more_.begin(), more_.end(), [&than](const auto& attempt) {
    return attempt.get() != &than && attempt->awaitsHead();
  });
}

void Router::retry() {
  log::debug(log::Component::Router, info_.tags(), "performing retry");
  retry_at_ = net::kNever;
  ++info_.attempts;
  // Clusters may come and go meanwhile.
  upstream::WorkerCluster* const cluster = info_.findTarget();
  upstream::HttpPool* const pool =
      cluster ? cluster->chooseHttpPool(info_.clientVersion(), wish(), retry_->hosts()) : nullptr;
  upstream::HttpPool* const own = pool ? &pool->cluster().poolOf(*pool, use_) : nullptr;
  if (!own || !own->cluster().admits(*own)) {
    answerNoHost();
    return;
  }
  info_.use(cluster);
  if (cluster->overrideRules()) tellChosenHost(pool->host());
  start(restingAttempt(), *own);
}

void Router::giveUp(Attempt& attempt) {
  if (info_.trace) cancelTryTrace(attempt);
  if (measures()) measureTry(attempt);
  abandonTry(attempt);
  if (current_ == &attempt) current_ = nullptr;
}

Router::Attempt& Router::restingAttempt() {
  if (!first_.isActive()) return first_;
  for (const auto& attempt : more_) {
    if (!attempt->isActive()) return *attempt;
  }
  // Its owner is a private base: only it may say so.
  return *more_.emplace_back(new Attempt(*this, info_.upstream_bytes));
}

// ---- deadlines ----

void Router::watch(net::Millis deadline) {
  if (deadline != net::kNever) loop().timers().armBy(this, deadline);
}

// A try's time begins when its host has the whole request.
void Router::watchTry(Attempt& attempt) {
  if (timeouts_.try_ms > 0) attempt.try_deadline = loop().now() + timeouts_.try_ms;
  if (timeouts_.try_idle_ms > 0) attempt.idle_deadline = loop().now() + timeouts_.try_idle_ms;
  watch(attempt.nextDeadline());
}

void Router::touchTry(Attempt& attempt) {
  if (timeouts_.try_idle_ms == 0 || !attempt.isActive() || !request_complete_) return;
  attempt.idle_deadline = loop().now() + timeouts_.try_idle_ms;
  watch(attempt.idle_deadline);
}

net::Millis Router::nextDeadline() {
  net::Millis next = std::min(route_deadline_, retry_at_);
  if (try_logs_) next = std::min(next, try_logs_->due());
  forEachActive([&next](Attempt& attempt) { next = std::min(next, attempt.nextDeadline()); });
  return next;
}

// One thing at a time: the request may be over after it. What else is due comes in the next turn.
void Router::onTimer() {
  if (!info_.server) return;
  const net::Millis now = loop().now();
  if (try_logs_) try_logs_->tellDue(now);
  Attempt* late = nullptr;
  forEachActive([&late, now](Attempt& attempt) {
    if (attempt.nextDeadline() <= now) late = &attempt;
  });
  if (route_deadline_ <= now) {
    onRouteTimeout();
  } else if (retry_at_ <= now) {
    retry();
  } else if (late && late->exchange_deadline <= now) {
    onExchangeTimeout(*late);
  } else if (late) {
    onTryTimeout(*late, late->try_deadline > now);
  }
  watch(nextDeadline());
}

void Router::onRouteTimeout() {
  const bool has_begun = stream_.hasAnswerBegun();
  if (measures()) measureTime();
  forEachActive([this, has_begun](Attempt& attempt) {
    clusterStats().add(ClusterCounter::UpstreamRqTimeout);
    addToGroups(stats::VirtualCluster::Counter::UpstreamRqTimeout);
    if (!has_begun) charge(timeouts_.status, nullptr);
    // As the real server: a host that has not been asked is not to blame.
    if (attempt.isWaiting()) return;
    countersOf(attempt.host()).rq_timeout.add();
    if (has_begun) return;
    if (!attempt.was_late) {
      tellOutlier(&attempt.host(), upstream::OutlierResult::Timeout, timeouts_.status);
    }
    countHostError(&attempt.host(), timeouts_.status);
  });
  LocalReply answer{timeouts_.status, "upstream request timeout", "response_timeout",
                    Flag::UpstreamRequestTimeout};
  if (timeouts_.status != 504) answer.body = {};
  giveUp(answer);
}

void Router::onTryTimeout(Attempt& attempt, bool is_idle) {
  attempt.try_deadline = net::kNever;
  if (is_idle) attempt.idle_deadline = net::kNever;
  if (!attempt.was_late) {
    tellOutlier(&attempt.host(), upstream::OutlierResult::Timeout, timeouts_.status);
  }
  if (timeouts_.hedges && !stream_.hasAnswerBegun()) {
    attempt.was_late = true;
    attempt.was_hedged =
        retries_on_ && !attempt.was_hedged && isRetried(retry_->afterTryTimeout(), true);
    return;
  }
  clusterStats().add(is_idle ? ClusterCounter::UpstreamRqPerTryIdleTimeout
                             : ClusterCounter::UpstreamRqPerTryTimeout);
  countersOf(attempt.host()).rq_timeout.add();
  const bool has_begun = stream_.hasAnswerBegun();
  if (info_.trace) info_.trace->onTryFlag(&attempt, Flag::UpstreamRequestTimeout);
  if (try_logs_) {
    try_logs_->onFlag(attempt, is_idle ? Flag::StreamIdleTimeout : Flag::UpstreamRequestTimeout);
  }
  giveUp(attempt);
  if (!has_begun) {
    const UpstreamError error{UpstreamError::Kind::LocalReset, &attempt.host(), true};
    const bool is_retried = retries_on_ && isRetried(retry_->afterError(error), true);
    if (is_retried) return countHostError(&attempt.host());
    countHostError(&attempt.host(), timeouts_.status);
    charge(timeouts_.status, nullptr);
  } else {
    chargeBegunAnswer();
  }
  LocalReply answer{timeouts_.status, "upstream request timeout",
                    is_idle ? "upstream_per_try_idle_timeout" : "upstream_per_try_timeout",
                    Flag::UpstreamRequestTimeout};
  if (timeouts_.status != 504) answer.body = {};
  giveUp(answer);
}

void Router::onExchangeTimeout(Attempt& attempt) {
  clusterStats().add(ClusterCounter::UpstreamRqMaxDurationReached);
  const bool has_begun = stream_.hasAnswerBegun();
  giveUp(attempt);
  const UpstreamError error{UpstreamError::Kind::LocalReset, &attempt.host(), true};
  if (retries_on_ && !has_begun && !attempt.was_hedged &&
      isRetried(retry_->afterError(error), false)) {
    // As the real server: an error of its host where there is another try alone.
    countHostError(&attempt.host());
    return;
  }
  giveUp({static_cast<uint16_t>(request_complete_ ? 504 : 408),
          "upstream max stream duration reached", "upstream_max_stream_duration_reached",
          Flag::UpstreamMaxStreamDurationReached});
}

void Router::giveUp(const LocalReply& answer) {
  abandon();
  if (stream_.hasAnswerBegun()) {
    stream_.onUpstreamBroken(*answer.flag, answer.details);
    return;
  }
  LocalReply reply = answer;
  reply.is_of_router = true;
  answerInPlace(reply);
}

}  // namespace fairlead::proxy
