#include "proxy/upstream_head.h"

#include "base/text.h"

namespace fairlead::proxy {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;

namespace {

// Said to this proxy by its caller, and used up here.
constexpr HeaderId kForRouterOnly[] = {
    HeaderId::XEnvoyRetryOn,
    HeaderId::XEnvoyRetryGrpcOn,
    HeaderId::XEnvoyMaxRetries,
    HeaderId::XEnvoyRetriableStatusCodes,
    HeaderId::XEnvoyRetriableHeaderNames,
    HeaderId::XEnvoyHedgeOnPerTryTimeout,
    HeaderId::XEnvoyUpstreamRqPerTryTimeoutMs,
    HeaderId::XEnvoyUpstreamAltStatName,
};

void mutate(HeaderMap& headers, const StreamInfo& info) {
  const route::MutationChain& chain = info.target->chain;
  if (!chain.changesRequest()) return;
  format::FormatContext format;
  info.fill(&format);
  chain.applyToRequest(headers, format, info.context().arena);
  headers.remove(HeaderId::TransferEncoding);  // The codec's.
}

// A weighted cluster's own host comes first and is not spoken of; the route's goes over it, and
// says what it took the place of.
void rewriteHost(http::RequestHead& head, const route::RequestView& view, const StreamInfo& info) {
  if (!info.target->host_rewrite.empty()) head.authority = info.target->host_rewrite;
  const route::HostRewrite& rewrite = info.route->cluster->host_rewrite;
  Arena& arena = info.context().arena;
  const std::string_view host = rewrite.apply(view, info.host->settings().hostname, arena);
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

}  // namespace

Timeouts chooseTimeouts(HeaderMap& headers, const StreamInfo& info) {
  Timeouts timeouts;
  timeouts.route_ms = info.route->cluster->plan.timeout_ms;
  // What a proxy before this one waits for comes before what the client wants.
  HeaderEntry* const expected = info.config().router.respect_expected_rq_timeout
                                    ? headers.find(HeaderId::XEnvoyExpectedRqTimeoutMs)
                                    : nullptr;
  HeaderEntry* const wanted =
      expected ? expected : headers.find(HeaderId::XEnvoyUpstreamRqTimeoutMs);
  if (wanted) {
    uint64_t ms = 0;
    if (parseDecimal(wanted->value(), &ms)) timeouts.route_ms = ms;
    if (!expected) wanted->remove();
  }
  timeouts.exchange_ms = info.cluster->settings().max_stream_duration_ms;
  if (HeaderEntry* const duration = headers.find(HeaderId::XEnvoyUpstreamStreamDurationMs)) {
    uint64_t ms = 0;
    if (parseDecimal(duration->value(), &ms)) timeouts.exchange_ms = ms;
    duration->remove();
  }
  return timeouts;
}

void prepareUpstreamHead(http::RequestHead& head, const route::RequestView& view,
                         const StreamInfo& info, const Timeouts& timeouts) {
  HeaderMap& headers = head.headers;
  Arena& arena = info.context().arena;
  const bool tells_of_envoy = !info.config().router.suppress_envoy_headers;
  const std::string_view path_before = head.path;
  if (info.is_internal) {
    for (const HeaderId id : kForRouterOnly) headers.remove(id);
  }
  if (timeouts.route_ms > 0 && tells_of_envoy) {
    headers.set(HeaderId::XEnvoyExpectedRqTimeoutMs, arena.decimal(timeouts.route_ms));
  }
  if (info.virtual_host->plan.include_request_attempt_count) {
    headers.set(HeaderId::XEnvoyAttemptCount, "1");
  }
  mutate(headers, info);
  rewriteHost(head, view, info);
  const route::ClusterAction& action = *info.route->cluster;
  if (action.path_rewrite.kind != plan::PathRewrite::Kind::None) {
    head.path = action.path_rewrite.apply(head.path, info.route->match, arena);
  }
  // Written whenever a rewrite ran, even one to the same path.
  if (tells_of_envoy && head.path.data() != path_before.data()) {
    headers.set(HeaderId::XEnvoyOriginalPath, path_before);
  }
}

}  // namespace fairlead::proxy
