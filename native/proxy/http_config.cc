#include "proxy/http_config.h"

#include <utility>

#include "base/text.h"

namespace fairlead::proxy {

namespace {

http::EscapedSlashes escapedSlashes(plan::HttpConnectionManager::EscapedSlashes from) {
  using From = plan::HttpConnectionManager::EscapedSlashes;
  switch (from) {
    case From::KeepUnchanged:
      return http::EscapedSlashes::Keep;
    case From::RejectRequest:
      return http::EscapedSlashes::Reject;
    case From::UnescapeAndRedirect:
      return http::EscapedSlashes::UnescapeAndRedirect;
    case From::UnescapeAndForward:
      return http::EscapedSlashes::UnescapeAndForward;
  }
  return http::EscapedSlashes::Keep;
}

// Whatever limits a request limits its head; 0: nothing does.
net::Millis headTimeout(const plan::HttpConnectionManager& settings) {
  net::Millis least = 0;
  const net::Millis limits[] = {settings.request_headers_timeout_ms, settings.request_timeout_ms,
                                settings.max_stream_duration_ms, settings.stream_idle_timeout_ms};
  for (const net::Millis limit : limits) {
    if (limit > 0 && (least == 0 || limit < least)) least = limit;
  }
  return least;
}

}  // namespace

HttpConfig::HttpConfig(const plan::HttpConnectionManager& settings, uint32_t buffer_limit)
    : plan(settings),
      router(settings.router.value_or(plan::Router())),
      buffer_limit_bytes(buffer_limit) {
  codec.limits.max_head_bytes = settings.max_request_headers_kb * 1024;
  codec.limits.max_headers = settings.max_headers_count;
  codec.limits.spares_underscores =
      settings.underscores == plan::HttpConnectionManager::Underscores::Drop;
  codec.allow_chunked_length = settings.allow_chunked_length;
  codec.limits.takes_any_method = settings.allows_custom_methods;
  codec.accept_http_10 = settings.accept_http_10;
  codec.refuses_absolute_urls = settings.refuses_absolute_urls;
  codec.refuses_clear_https = settings.use_remote_address;
  codec.detects_http2 = settings.codec == plan::HttpConnectionManager::Codec::Auto;
  if (plan.http2) codec.http2_options = &*plan.http2;
  codec.flush_timeout_ms =
      settings.stream_flush_timeout_ms.value_or(settings.stream_idle_timeout_ms);
  codec.enable_trailers = settings.enable_trailers;
  codec.proper_case_words = settings.proper_case_words;
  codec.preserve_case = plan.preserve_case.get();
  codec.delayed_close_ms = settings.delayed_close_timeout_ms;
  codec.idle_timeout_ms = settings.idle_timeout_ms;
  codec.head_timeout_ms = headTimeout(settings);
  path_rules.normalize = settings.normalize_path;
  path_rules.merge_slashes = settings.merge_slashes;
  path_rules.escaped_slashes = escapedSlashes(settings.escaped_slashes);
  for (const plan::CidrRange& range : settings.internal_addresses) {
    internal_addresses.emplace_back(range);
  }
  for (const plan::IpDetection& detection : settings.ip_detections) {
    IpDetection& built = ip_detections.emplace_back();
    built.plan = detection;
    built.header = format::HeaderName(detection.header);
    for (const plan::CidrRange& range : detection.trusted) built.trusted.emplace_back(range);
  }
}

const HttpConfig::Upgrade* HttpConfig::findUpgrade(std::string_view name) const {
  for (const Upgrade& upgrade : upgrades) {
    if (equalsIgnoreCase(name, upgrade.name)) return &upgrade;
  }
  return nullptr;
}

void HttpConfig::setAccessLogs(std::vector<std::shared_ptr<access_log::AccessLog>> logs) {
  access_logs = std::move(logs);
  for (const auto& log : access_logs) {
    logs_request_head |= log->readsRequestHead();
    logs_response_head |= log->readsResponseHead();
  }
}

}  // namespace fairlead::proxy
