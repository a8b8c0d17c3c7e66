#include "base/text.h"
#include "log/log.h"
#include "proxy/downstream.h"
#include "proxy/stream.h"

namespace fairlead::proxy {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;
using Counter = stats::Http::Counter;
using ClusterCounter = stats::Cluster::Counter;

namespace {

std::string_view withoutPort(std::string_view authority) {
  const size_t colon = authority.rfind(':');
  if (colon == std::string_view::npos || authority.find(']', colon) != std::string_view::npos) {
    return authority;
  }
  return authority.substr(0, colon);
}

void stripPort(http::RequestHead& head, const plan::HttpConnectionManager& plan,
               uint16_t listener_port) {
  const std::string_view host = withoutPort(head.authority);
  uint64_t port = 0;
  if (host.size() < head.authority.size() &&
      parseDecimal(head.authority.substr(host.size() + 1), &port) &&
      (plan.strip_any_host_port || (plan.strip_matching_host_port && port == listener_port))) {
    head.authority = host;
  }
  if (plan.strip_trailing_host_dot && head.authority.ends_with('.')) {
    head.authority.remove_suffix(1);
  }
}

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

constexpr std::string_view kRetryConditions[] = {"5xx",
                                                 "gateway-error",
                                                 "reset",
                                                 "reset-before-request",
                                                 "connect-failure",
                                                 "envoy-ratelimited",
                                                 "retriable-4xx",
                                                 "refused-stream",
                                                 "retriable-status-codes",
                                                 "retriable-headers",
                                                 "http3-post-connect-failure"};
constexpr std::string_view kGrpcRetryConditions[] = {"cancelled", "deadline-exceeded", "internal",
                                                     "resource-exhausted", "unavailable"};

template <size_t N>
bool areKnown(std::string_view list, const std::string_view (&known)[N]) {
  bool all = true;
  forEachToken(list, [&](std::string_view token) {
    bool found = false;
    for (const std::string_view name : known) found |= name == token;
    all &= found;
    return all;
  });
  return all;
}

// Whether a header that is to be checked strictly says something that can be understood.
bool isStrictlyValid(HeaderId id, std::string_view value) {
  uint64_t number = 0;
  if (id == HeaderId::XEnvoyRetryOn) return areKnown(value, kRetryConditions);
  if (id == HeaderId::XEnvoyRetryGrpcOn) return areKnown(value, kGrpcRetryConditions);
  return parseDecimal(value, &number);
}

}  // namespace

void Stream::routeRequest(http::RequestHead& head) {
  const HttpConfig& config = this->config();
  stripPort(head, config.plan, downstream_->local().port());
  const RequestFacts facts =
      prepareRequestHeaders(head.headers, config, downstream_->remote(), context());
  client_address_ = facts.client;
  internal_ = facts.internal;
  scheme_ = facts.scheme;
  if (config.plan.always_set_request_id_in_response || facts.is_traced) {
    request_id_ = facts.request_id;
  }
  const route::RequestView view{head.method,  head.path,     head.authority,
                                facts.scheme, &head.headers, random_};
  virtual_host_ = config.routes ? config.routes->findHost(head.authority) : nullptr;
  const bool goes_to_tls = virtual_host_ && requiresTls(view);
  if (virtual_host_ && !goes_to_tls) route_ = virtual_host_->index->find(view);
  if (config.filters.empty() || filterHead(head, view)) followRoute(head, view);
}

// What the router, the last of the filters, does with a request.
void Stream::followRoute(http::RequestHead& head, const route::RequestView& view) {
  // Without a router nothing answers: the stream waits for a timeout.
  if (!config().plan.router) return;
  server_->stats().add(Counter::RqTotal);
  if (virtual_host_ && !route_ && requiresTls(view)) {
    LocalReply answer{301, {}, "direct_response"};
    answer.location = route::tlsLocation(view, context().arena);
    server_->stats().add(Counter::RqDirectResponse);
    reply(answer);
    return;
  }
  if (!route_) {
    server_->stats().add(Counter::NoRoute);
    reply({404, {}, "route_not_found", Flag::NoRouteFound, false, connect_request_});
    return;
  }
  if (route_->redirect) {
    redirect(view);
  } else if (route_->direct_response) {
    answerDirectly(view);
  } else if (route_->cluster) {
    forward(head, view);
  } else {
    reply({404, {}, "route_not_found", Flag::NoRouteFound});
  }
}

bool Stream::requiresTls(const route::RequestView& view) {
  using RequireTls = plan::VirtualHost::RequireTls;
  const RequireTls required = virtual_host_->plan.require_tls;
  if (required == RequireTls::None || view.scheme == "https") return false;
  return required == RequireTls::All || !internal_;
}

void Stream::redirect(const route::RequestView& view) {
  server_->stats().add(Counter::RqDirectResponse);
  LocalReply answer{static_cast<uint16_t>(route_->redirect->plan.status), {}, "direct_response"};
  answer.location = route_->redirect->location(view, route_->match, context().arena);
  reply(answer);
}

void Stream::answerDirectly(const route::RequestView& view) {
  server_->stats().add(Counter::RqDirectResponse);
  const plan::DirectResponse& response = *route_->direct_response;
  LocalReply answer{static_cast<uint16_t>(response.status), response.body, "direct_response"};
  if (response.status == 201 || response.status / 100 == 3) {
    // Such an answer says where: here.
    answer.location = route::ownLocation(view, context().arena);
  }
  reply(answer);
}

// ---- to a cluster ----

void Stream::forward(http::RequestHead& head, const route::RequestView& view) {
  const route::ClusterAction& action = *route_->cluster;
  if (!checkStrictly(head.headers)) return;
  target_ = &action.pick(view);
  if (target_->slot >= 0) {
    cluster_ = server_->cluster(target_->slot);
    if (!config().access_logs.empty()) {
      cluster_name_ = config().routes->clusterNames()[static_cast<size_t>(target_->slot)];
    }
  } else {
    std::string_view name;
    if (view.header(target_->cluster_header, &name)) cluster_name_ = name;
    cluster_ = context().clusters.find(cluster_name_);
    // A request must not reach hosts that expect HTTP/2 or TLS without it.
    if (cluster_ && cluster_->settings().is_control_only) cluster_ = nullptr;
  }
  if (!cluster_) {
    log::debug(log::Component::Router, tags(), "unknown cluster '", cluster_name_, "'");
    using NotFound = plan::ClusterAction::NotFound;
    server_->stats().add(Counter::NoCluster);
    const uint16_t status = action.plan.not_found == NotFound::NotFound              ? 404
                            : action.plan.not_found == NotFound::InternalServerError ? 500
                                                                                     : 503;
    reply({status, {}, "cluster_not_found", Flag::NoClusterFound});
    return;
  }
  log::debug(
      log::Component::Router, tags(), "cluster '",
      [&]() -> std::string_view { return cluster_->settings().name; }, "' match for URL '",
      head.path, "'");
  if (cluster_->isRefusingForMaintenance()) {
    chargeUpstream(503, nullptr);
    LocalReply answer{503, "maintenance mode", "maintenance_mode", Flag::UpstreamOverflow};
    answer.overloaded = true;
    reply(answer);
    return;
  }
  upstream::HttpPool* pool = cluster_->chooseHttpPool();
  if (!pool) {
    log::debug(log::Component::Router, tags(), "no healthy upstream");
    chargeUpstream(503, nullptr);
    reply({503, "no healthy upstream", "no_healthy_upstream", Flag::NoHealthyUpstream});
    return;
  }
  pool_ = pool;
  pool_->hold();
  host_ = &pool->host();
  prepareUpstreamHead(head, view);
  if (filtered_) chain_->onRequestForwarded(head);
  priority = static_cast<uint8_t>(action.plan.priority);
  waiting_pool_ = pool;
  if (request_complete_ && route_timeout_ms_ > 0) {
    route_deadline_ = loop().now() + route_timeout_ms_;
    watch(route_deadline_);
  }
  // With an idle connection at hand the head goes straight from where it was read; else it is kept.
  pool->newStream(*this);
  if (waiting_pool_ && PoolWaiter::isLinked()) {
    upstream_request_.save(head.method, head.path, head.authority, head.headers);
  }
}

// False: a header makes no sense, and was answered.
bool Stream::checkStrictly(const HeaderMap& headers) {
  for (const std::string& name : config().router.strict_check_headers) {
    const HeaderEntry* entry = headers.find(std::string_view(name));
    if (!entry || isStrictlyValid(entry->id, entry->value())) continue;
    std::string body = "invalid header '" + name + "' with value '";
    body.append(entry->value()).append("'");
    std::string details = "request_headers_failed_strict_check{" + name + "}";
    chargeUpstream(400, nullptr);
    reply({400, body, details, Flag::InvalidEnvoyRequestHeaders, false, true});
    return false;
  }
  return true;
}

void Stream::chooseTimeouts(HeaderMap& headers) {
  const plan::ClusterAction& plan = route_->cluster->plan;
  route_timeout_ms_ = plan.timeout_ms;
  // What a proxy before this one waits for comes before what the client wants.
  HeaderEntry* const expected = config().router.respect_expected_rq_timeout
                                    ? headers.find(HeaderId::XEnvoyExpectedRqTimeoutMs)
                                    : nullptr;
  HeaderEntry* const wanted =
      expected ? expected : headers.find(HeaderId::XEnvoyUpstreamRqTimeoutMs);
  if (wanted) {
    uint64_t ms = 0;
    if (parseDecimal(wanted->value(), &ms)) route_timeout_ms_ = ms;
    if (!expected) wanted->remove();
  }
  upstream_duration_ms_ = cluster_->settings().max_stream_duration_ms;
  if (HeaderEntry* const duration = headers.find(HeaderId::XEnvoyUpstreamStreamDurationMs)) {
    uint64_t ms = 0;
    if (parseDecimal(duration->value(), &ms)) upstream_duration_ms_ = ms;
    duration->remove();
  }
  if (plan.idle_timeout_ms) {
    idle_timeout_ms_ = *plan.idle_timeout_ms;
    touch();
  }
  if (plan.max_stream_duration_ms) {
    duration_deadline_ = *plan.max_stream_duration_ms == 0
                             ? net::kNever
                             : loop().now() + *plan.max_stream_duration_ms;
    watch(duration_deadline_);
  }
}

void Stream::prepareUpstreamHead(http::RequestHead& head, const route::RequestView& view) {
  HeaderMap& headers = head.headers;
  Arena& arena = context().arena;
  const std::string_view path_before = head.path;
  chooseTimeouts(headers);
  if (internal_) {
    for (const HeaderId id : kForRouterOnly) headers.remove(id);
  }
  if (route_timeout_ms_ > 0 && !config().router.suppress_envoy_headers) {
    headers.set(HeaderId::XEnvoyExpectedRqTimeoutMs, arena.decimal(route_timeout_ms_));
  }
  if (virtual_host_->plan.include_request_attempt_count) {
    headers.set(HeaderId::XEnvoyAttemptCount, "1");
  }
  mutateRequest(headers);
  rewriteHost(head, view);
  const route::ClusterAction& action = *route_->cluster;
  if (action.path_rewrite.kind != plan::PathRewrite::Kind::None) {
    head.path = action.path_rewrite.apply(head.path, route_->match, arena);
  }
  if (config().router.suppress_envoy_headers) return;
  // Written whenever a rewrite ran, even one to the same path.
  if (head.path.data() != path_before.data()) {
    headers.set(HeaderId::XEnvoyOriginalPath, path_before);
  }
}

// A weighted cluster's own host comes first and is not spoken of; the route's goes over it, and
// says what it took the place of.
void Stream::rewriteHost(http::RequestHead& head, const route::RequestView& view) {
  if (!target_->host_rewrite.empty()) head.authority = target_->host_rewrite;
  const route::HostRewrite& rewrite = route_->cluster->host_rewrite;
  Arena& arena = context().arena;
  const std::string_view host = rewrite.apply(view, host_->settings().hostname, arena);
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
  if (!config().router.suppress_envoy_headers) headers.set(HeaderId::XEnvoyOriginalHost, before);
}

void Stream::mutateRequest(HeaderMap& headers) {
  const route::MutationChain& chain = target_->chain;
  if (!chain.changesRequest()) return;
  format::FormatContext format;
  fillFormatContext(&format);
  chain.applyToRequest(headers, format, context().arena);
  headers.remove(HeaderId::TransferEncoding);  // The codec's.
}

}  // namespace fairlead::proxy
