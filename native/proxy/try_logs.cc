#include "proxy/try_logs.h"

#include <algorithm>
#include <utility>

#include "base/wall_clock.h"
#include "proxy/http_server.h"
#include "proxy/stream_info.h"

namespace fairlead::proxy {

using format::LogType;
using upstream::Attempt;

TryLogs::Try* TryLogs::find(const Attempt& attempt) {
  for (const auto& one : tries_) {
    if (one->attempt == &attempt) return one.get();
  }
  return nullptr;
}

void TryLogs::begin(const Attempt& attempt, const upstream::Host& host) {
  Try* one = find(attempt);
  for (size_t i = 0; !one && i < tries_.size(); ++i) {
    if (!tries_[i]->attempt) one = tries_[i].get();
  }
  if (!one) one = tries_.emplace_back(std::make_unique<Try>()).get();
  http::SavedHead response = std::move(one->response);
  http::SavedHead trailers = std::move(one->trailers);
  *one = Try{};
  response.unset();
  trailers.unset();
  one->response = std::move(response);
  one->trailers = std::move(trailers);
  one->attempt = const_cast<Attempt*>(&attempt);
  one->host = &host;
  one->start_us = info_.loop().nowMicros();
  const uint64_t interval_ms = info_.config().router.upstream_log_interval_ms;
  if (interval_ms > 0) one->next = info_.loop().now() + interval_ms;
}

void TryLogs::onReady(Attempt& attempt) {
  Try* const one = find(attempt);
  if (!one) return;
  one->is_ready = true;
  if (info_.config().router.logs_upstream_start) write(*one, LogType::UpstreamPoolReady);
}

void TryLogs::onAnswer(const Attempt& attempt, const http::ResponseHead& head) {
  Try* const one = find(attempt);
  if (!one) return;
  one->answer_us = info_.loop().nowMicros();
  one->status = head.status;
  one->response.save({}, {}, {}, head.headers);
}

void TryLogs::onTrailers(const Attempt& attempt, const http::HeaderMap& trailers) {
  if (Try* const one = find(attempt)) one->trailers.save({}, {}, {}, trailers);
}

void TryLogs::onReceived(const Attempt& attempt, size_t bytes) {
  if (Try* const one = find(attempt)) one->received += bytes;
}

void TryLogs::onSent(const Attempt& attempt, size_t bytes) {
  if (Try* const one = find(attempt)) one->sent += bytes;
}

void TryLogs::onFlag(const Attempt& attempt, format::ResponseFlag flag) {
  if (Try* const one = find(attempt)) one->flags.set(flag);
}

void TryLogs::end(Attempt& attempt) {
  Try* const one = find(attempt);
  if (!one) return;
  write(*one, LogType::UpstreamEnd);
  one->attempt = nullptr;
  one->next = net::kNever;
}

void TryLogs::endAll() {
  for (const auto& one : tries_) {
    if (one->attempt) end(*one->attempt);
  }
}

net::Millis TryLogs::due() const {
  net::Millis due = net::kNever;
  for (const auto& one : tries_) due = std::min(due, one->next);
  return due;
}

void TryLogs::tellDue(net::Millis now) {
  for (const auto& one : tries_) {
    if (one->next > now) continue;
    write(*one, LogType::UpstreamPeriodic);
    one->next = now + info_.config().router.upstream_log_interval_ms;
  }
}

// As the real server, whose tries know nothing of retries and of metadata.
void TryLogs::write(Try& one, LogType type) {
  format::FormatContext format;
  info_.fill(&format);
  const uint64_t now_us = info_.loop().nowMicros();
  format.log_type = type;
  format.is_complete = type == LogType::UpstreamEnd;
  format.duration_us = now_us - one.start_us;
  format.start_time_us = wallClockMicros() - format.duration_us;
  format.started_us = one.start_us;
  format.request_end_us = format::kUnknown;
  format.response_begin_us = one.answer_us > 0 ? one.answer_us - one.start_us : format::kUnknown;
  format.response_end_us = format::kUnknown;
  format.status = one.status;
  format.flags = one.flags;
  format.details = {};
  format.bytes_received = one.received;
  format.bytes_sent = one.sent;
  format.attempts = 0;
  format.stream_id = {};
  format.virtual_cluster = {};
  format.filter_metadata = {};
  format.filter_state = nullptr;
  format.local_reply_owner = {};
  format.protocol = one.is_ready ? format.upstream_protocol : std::string_view();
  if (!one.is_ready) {
    format.upstream_protocol = {};
    format.downstream = {};
    format.upstream_remote = nullptr;
    format.upstream_local = nullptr;
  }
  format.upstream_host = &one.host->address();
  format.upstream_host_name = one.host->settings().hostname;
  Context& context = info_.context();
  if (one.response.isSet()) {
    one.response.restore(&context.log_response);
    format.response_headers = &context.log_response;
  }
  if (one.trailers.isSet()) {
    one.trailers.restore(&context.log_trailers);
    format.response_trailers = &context.log_trailers;
  }
  for (const auto& log : info_.config().upstream_logs) {
    log->write(context.upstream.worker, format, info_.id);
  }
}

}  // namespace fairlead::proxy
