#include "proxy/upstream_head.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "http/grpc_timeout.h"
#include "proxy/request_rules.h"

namespace fairlead::proxy {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;

namespace {

void mutate(HeaderMap& headers, const StreamInfo& info) {
  const route::MutationChain& chain = info.target->chain;
  if (!chain.changesRequest()) return;
  format::FormatContext format;
  info.fill(&format);
  // As the real server, which says what it adds before it chooses a host.
  format.upstream_host = nullptr;
  format.upstream_host_name = {};
  format.upstream_close = format::CloseType::None;
  using Source = plan::FormatPiece::MetadataSource;
  format.configured_metadata[static_cast<size_t>(Source::UpstreamHost)] = nullptr;
  chain.applyToRequest(headers, format, info.context().arena);
  headers.remove(HeaderId::TransferEncoding);  // The codec's.
}

// A weighted cluster's own host comes first and is not spoken of; the route's goes over it, and
// says what it took the place of.
void rewriteHost(http::RequestHead& head, const route::RequestView& view, const StreamInfo& info) {
  if (!info.target->host_rewrite.empty()) head.authority = info.target->host_rewrite;
  const route::HostRewrite& rewrite = info.route->cluster->host_rewrite;
  Arena& arena = info.context().arena;
  const std::string_view hostname =
      info.host ? std::string_view(info.host->settings().hostname) : std::string_view();
  const std::string_view host = rewrite.apply(view, hostname, arena);
  if (host.empty()) return;
  const std::string_view before = head.authority;
  head.authority = host;
  HeaderMap& headers = head.headers;
  if (rewrite.append_x_forwarded_host) {
    const HeaderEntry* existing = headers.find(HeaderId::XForwardedHost);
    headers.set(
        HeaderId::XForwardedHost,
        route::joinForwardedHost(existing ? existing->value() : std::string_view(), before, arena));
  }
  if (!info.config().router.suppress_envoy_headers) {
    headers.set(HeaderId::XEnvoyOriginalHost, before);
  }
}

// A CONNECT asks for a port, too (RFC 9110, 9.3.6).
void restorePort(http::RequestHead& head, const StreamInfo& info) {
  if (info.connect_port == 0) return;
  const size_t bracket = head.authority.rfind(']');
  const size_t host_end = bracket == std::string_view::npos ? 0 : bracket;
  if (head.authority.find(':', host_end) != std::string_view::npos) return;
  char digits[5];
  const char* const end = std::to_chars(digits, digits + sizeof(digits), info.connect_port).ptr;
  head.authority =
      info.context().arena.join(head.authority, ":", {digits, static_cast<size_t>(end - digits)});
}

// 0: none.
net::Millis grpcTimeout(const plan::ClusterAction& plan, const HeaderMap& headers) {
  const HeaderEntry* const header = headers.find(HeaderId::GrpcTimeout);
  net::Millis timeout =
      header ? http::readGrpcTimeout(header->value()).value_or(0) : net::Millis{0};
  // One that left nothing would be none.
  const net::Millis offset = plan.grpc_route_timeout_offset_ms;
  if (offset < timeout) timeout -= offset;
  const net::Millis most = *plan.grpc_route_timeout_max_ms;
  return most > 0 && (timeout == 0 || timeout > most) ? most : timeout;
}

// A host that is a gRPC server hears in its own words how long it has.
void tellGrpcTimeout(HeaderMap& headers, const StreamInfo& info, net::Millis expected,
                     Arena& arena) {
  if (!info.is_grpc || !info.route->cluster->plan.grpc_route_timeout_max_ms) return;
  headers.set(HeaderId::GrpcTimeout, http::writeGrpcTimeout(expected, arena));
}

}  // namespace

net::Millis Timeouts::expected(net::Millis elapsed) const {
  const net::Millis one = hedges || try_ms == 0 ? route_ms : try_ms;
  if (one == 0 || route_ms == 0) return one;
  // 0 would say that there is no limit.
  return elapsed >= route_ms ? 1 : std::min(one, route_ms - elapsed);
}

Timeouts chooseTimeouts(HeaderMap& headers, const StreamInfo& info) {
  const route::ClusterAction& action = *info.route->cluster;
  const bool respects_expected = info.config().router.respect_expected_rq_timeout;
  Timeouts timeouts;
  timeouts.route_ms = info.is_grpc && action.plan.grpc_route_timeout_max_ms
                          ? grpcTimeout(action.plan, headers)
                          : action.plan.timeout_ms;
  timeouts.hedges = action.plan.hedge_on_per_try_timeout;
  timeouts.exchange_ms = info.cluster->settings().max_stream_duration_ms;
  if (const route::RetryPolicy* const retry = retryPolicyOf(info)) {
    timeouts.try_ms = retry->plan.per_try_timeout_ms;
    timeouts.try_idle_ms = retry->plan.per_try_idle_timeout_ms;
  }
  static constexpr http::HeaderIds kSpoken = {
      HeaderId::XEnvoyUpstreamRqTimeoutMs,       HeaderId::XEnvoyExpectedRqTimeoutMs,
      HeaderId::XEnvoyUpstreamRqPerTryTimeoutMs, HeaderId::XEnvoyUpstreamStreamDurationMs,
      HeaderId::XEnvoyHedgeOnPerTryTimeout,      HeaderId::XEnvoyUpstreamRqTimeoutAltResponse,
      HeaderId::XEnvoyUpstreamAltStatName};
  HeaderEntry* wanted = nullptr;
  HeaderEntry* expected = nullptr;
  const bool says_any = headers.mayHave(kSpoken);
  for (HeaderEntry* at = headers.begin(); says_any && at != headers.end(); ++at) {
    HeaderEntry& entry = *at;
    switch (entry.id) {
      case HeaderId::XEnvoyUpstreamRqTimeoutMs:
        wanted = &entry;
        continue;
      case HeaderId::XEnvoyExpectedRqTimeoutMs:
        if (respects_expected) expected = &entry;
        continue;
      case HeaderId::XEnvoyUpstreamRqPerTryTimeoutMs:
        parseSpokenNumber(entry.value(), &timeouts.try_ms);
        break;
      case HeaderId::XEnvoyUpstreamStreamDurationMs:
        parseSpokenNumber(entry.value(), &timeouts.exchange_ms);
        break;
      case HeaderId::XEnvoyUpstreamRqTimeoutAltResponse:
        timeouts.status = 204;
        break;
      case HeaderId::XEnvoyHedgeOnPerTryTimeout:
        if (entry.value() == "true") timeouts.hedges = true;
        if (entry.value() == "false") timeouts.hedges = false;
        break;
      case HeaderId::XEnvoyUpstreamAltStatName:
        break;
      default:
        continue;
    }
    entry.remove();
  }
  // What a proxy before this one waits for comes before what the client wants.
  if (expected) {
    parseSpokenNumber(expected->value(), &timeouts.route_ms);
  } else if (wanted) {
    parseSpokenNumber(wanted->value(), &timeouts.route_ms);
    wanted->remove();
  }
  if (timeouts.route_ms > 0 && timeouts.try_ms >= timeouts.route_ms) timeouts.try_ms = 0;
  return timeouts;
}

RetryWishes takeRetryWishes(HeaderMap& headers) {
  static constexpr http::HeaderIds kWishes = {
      HeaderId::XEnvoyRetryOn, HeaderId::XEnvoyRetryGrpcOn, HeaderId::XEnvoyMaxRetries,
      HeaderId::XEnvoyRetriableStatusCodes, HeaderId::XEnvoyRetriableHeaderNames};
  RetryWishes wishes;
  if (!headers.mayHave(kWishes)) return wishes;
  for (HeaderEntry& entry : headers) {
    switch (entry.id) {
      case HeaderId::XEnvoyRetryOn:
        wishes.retry_on = entry.value();
        break;
      case HeaderId::XEnvoyRetryGrpcOn:
        wishes.retry_grpc_on = entry.value();
        break;
      case HeaderId::XEnvoyMaxRetries:
        wishes.max_retries = entry.value();
        break;
      case HeaderId::XEnvoyRetriableStatusCodes:
        wishes.status_codes = entry.value();
        break;
      case HeaderId::XEnvoyRetriableHeaderNames:
        wishes.header_names = entry.value();
        break;
      default:
        continue;
    }
    entry.remove();
  }
  return wishes;
}

void prepareUpstreamHead(http::RequestHead& head, const route::RequestView& view,
                         const StreamInfo& info, const Timeouts& timeouts) {
  HeaderMap& headers = head.headers;
  Arena& arena = info.context().arena;
  const bool tells_of_envoy = !info.config().router.suppress_envoy_headers;
  const std::string_view path_before = head.path;
  const net::Millis expected = timeouts.expected(0);
  if (expected > 0 && tells_of_envoy) {
    headers.set(HeaderId::XEnvoyExpectedRqTimeoutMs, arena.decimal(expected));
  }
  if (expected > 0) tellGrpcTimeout(headers, info, expected, arena);
  if (info.virtual_host->plan.include_request_attempt_count) {
    headers.set(HeaderId::XEnvoyAttemptCount, "1");
  }
  restorePort(head, info);
  mutate(headers, info);
  rewriteHost(head, view, info);
  const route::ClusterAction& action = *info.route->cluster;
  if (action.path_rewrite.kind != plan::PathRewrite::Kind::None) {
    head.path = action.path_rewrite.apply(view, head.path, info.route->match, arena);
  }
  // Written whenever a rewrite ran, even one to the same path.
  if (tells_of_envoy && head.path.data() != path_before.data()) {
    headers.set(HeaderId::XEnvoyOriginalPath, path_before);
  }
}

void prepareRetryHead(HeaderMap& headers, const StreamInfo& info, const Timeouts& timeouts,
                      bool is_after_timeout) {
  Arena& arena = info.context().arena;
  const plan::VirtualHost& host = info.virtual_host->plan;
  if (host.include_request_attempt_count) {
    headers.set(HeaderId::XEnvoyAttemptCount, arena.decimal(info.attempts));
  }
  if (host.include_is_timeout_retry) {
    headers.set(HeaderId::XEnvoyIsTimeoutRetry, is_after_timeout ? "true" : "false");
  }
  const uint64_t elapsed_us =
      info.request_forwarded_us > 0 ? info.loop().nowMicros() - info.request_forwarded_us : 0;
  const net::Millis expected = timeouts.expected(elapsed_us / 1000);
  if (expected > 0 && !info.config().router.suppress_envoy_headers) {
    headers.set(HeaderId::XEnvoyExpectedRqTimeoutMs, arena.decimal(expected));
  }
  if (expected > 0) tellGrpcTimeout(headers, info, expected, arena);
}

}  // namespace fairlead::proxy
