#include "filters/http/ext_authz.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "filters/http/charged_cluster.h"
#include "filters/http/ext_authz_answer.h"
#include "filters/http/ext_authz_changes.h"
#include "filters/http/ext_authz_check.h"
#include "filters/http/ext_authz_figures.h"
#include "filters/http/waited_request.h"
#include "format/struct_metadata.h"
#include "log/log.h"
#include "tracing/call_span.h"

namespace fairlead::filters {

namespace {

using AuthzCounter = stats::HttpExtAuthz::Counter;
using AuthzClusterCounter = stats::ClusterExtAuthz::Counter;
using http::HeaderId;

constexpr std::string_view kMetadataSpace = "envoy.filters.http.ext_authz";

bool isWebSocket(const http::RequestHead& head) {
  if (head.upgrades) {
    const http::HeaderEntry* const upgrade = head.headers.find(HeaderId::Upgrade);
    return upgrade && equalsIgnoreCase(upgrade->value(), "websocket");
  }
  return !head.protocol.empty();
}

// Of one request.
class ExtAuthz final : public HttpFilter, private calls::CallOwner {
 public:
  ExtAuthz(const ExtAuthzSettings& settings, const FilterScope& scope, FilterPlace& place)
      : settings_(settings), scope_(scope), place_(place), call_(*this) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView& view,
                             bool end) override {
    // As the real server: what goes nowhere needs no leave.
    if (!scope_.route) {
      has_passed_ = true;
      return FilterStatus::Continue;
    }
    readRoute();
    scope_.calls->prepare(*service_->service);
    if (!isEnabled(view)) {
      count(AuthzCounter::Disabled);
      if (settings_.deny_at_disable.value() == 0) return FilterStatus::Continue;
      refuse(settings_.plan.status_on_error, "ext_authz_error");
      return FilterStatus::Answer;
    }
    cluster_.find(scope_, view);
    check_.begin(settings_, *service_, head, view, place_, scope_.stream_id, extensions());
    is_buffering_ = body_ && !end && !isWebSocket(head);
    is_http2_ = head.version == http::Version::Http2;
    has_waited_ = is_buffering_ && hasRequestWaited(place_);
    if (!is_buffering_) return ask();
    if (!body_->allow_partial) place_.limitRequestBuffer(body_->max_bytes);
    return FilterStatus::Pause;
  }

  FilterStatus onRequestData(std::string_view data, bool end) override {
    if (has_passed_) return FilterStatus::Continue;
    if (!is_buffering_) return FilterStatus::Pause;
    body_bytes_ += data.size();
    const size_t room = body_->max_bytes - std::min<size_t>(body_->max_bytes, kept_.size());
    kept_.append(data.substr(0, room));
    const bool is_full = body_->allow_partial && body_bytes_ >= body_->max_bytes;
    // As the real server: what has waited for another filter is one piece, whatever its size.
    if (!end && !is_full) return has_waited_ ? FilterStatus::Pause : FilterStatus::Buffer;
    // Too much is answered where it is held. As the real server: HTTP/2's last frame is not held,
    // whatever its size; HTTP/1's last bytes are.
    if (!is_http2_ && !has_waited_ && !body_->allow_partial && body_bytes_ > body_->max_bytes) {
      return FilterStatus::Buffer;
    }
    return ask();
  }

  FilterStatus onRequestTrailers(http::HeaderMap&) override {
    if (has_passed_) return FilterStatus::Continue;
    return is_buffering_ ? ask() : FilterStatus::Pause;
  }

  void onRequestHeadReleased(http::RequestHead& head, Arena& arena) override {
    if (adds_failure_header_) {
      static const std::string& name =
          *new std::string(http::ownHeader("auth-failure-mode-allowed"));
      head.headers.add(HeaderId::Other, name, "true");
    }
    if (answer_.status != AuthzAnswer::Status::Ok) return;
    changes_.makeIn(head, arena);
    if (clearsRoute()) place_.clearRoute();
  }

  FilterStatus onResponseHead(uint16_t, http::HeaderMap& headers, bool, Arena& arena) override {
    if (is_refused_) {
      changes_.tellRefusal(headers);
      return FilterStatus::Continue;
    }
    changes_.makeInAnswer(headers, arena);
    if (!settings_.plan.limits_response_headers || answer_.response_edits.empty() ||
        !isTooLarge(headers)) {
      return FilterStatus::Continue;
    }
    count(AuthzCounter::ResponseHeaderLimitsReached);
    refuse(500, "ext_authz_invalid");
    return FilterStatus::Answer;
  }

  LocalReply answer() const override { return reply_; }
  void onEnd() override { call_.cancel(); }

 private:
  // ---- before it is asked ----

  void readRoute() {
    service_ = settings_.service.get();
    body_ = settings_.plan.body.get();
    hides_call_ = settings_.plan.hides_calls;
    bool has_body = false;
    bool has_hiding = false;
    for (const route::FilterConfig* config : place_.routeConfigs()) {
      const ExtAuthzRoute* const route = ExtAuthzRoute::of(config);
      if (!route) continue;
      // The most specific one's.
      if (!std::exchange(has_body, true)) {
        if (route->plan.body) body_ = route->plan.body.get();
        if (route->plan.disable_body) body_ = nullptr;
      }
      if (route->service && service_ == settings_.service.get()) service_ = route->service.get();
      if (route->plan.hides_calls && !std::exchange(has_hiding, true)) {
        hides_call_ = *route->plan.hides_calls;
      }
    }
  }

  // Of all levels; what is more specific counts.
  ExtAuthzCheck::Extensions extensions() const {
    ExtAuthzCheck::Extensions all;
    for (const route::FilterConfig* config : place_.routeConfigs()) {
      const ExtAuthzRoute* const route = ExtAuthzRoute::of(config);
      if (!route) continue;
      for (const plan::TextPair& pair : route->plan.context_extensions) {
        const bool is_said = std::ranges::any_of(
            all, [&pair](const auto& one) { return one.first == std::string_view(pair.key); });
        if (!is_said) all.emplace_back(pair.key, pair.value);
      }
    }
    return all;
  }

  bool isEnabled(const route::RequestView& view) const {
    if (!scope_.clusters.context().random.draws(settings_.enabled.value())) return false;
    if (!settings_.enabled_metadata) return true;
    format::FormatContext context;
    place_.describe(&context);
    return settings_.enabled_metadata->holds({view, context, place_.peer()});
  }

  FilterStatus ask() {
    log::trace(log::Component::ExtAuthz, "ext_authz filter calling authorization server");
    const bool is_partial = body_bytes_ > kept_.size();
    const std::string_view body =
        is_buffering_ ? std::string_view(kept_.data(), kept_.size()) : std::string_view();
    is_buffering_ = false;
    started_at_us_ = place_.loop().nowMicros();
    keepFigures();
    if (!hides_call_) call_.traceIn(place_.trace());
    check_.ask(call_, *scope_.calls, place_, body, is_partial, body_ && body_->as_bytes);
    return FilterStatus::Pause;
  }

  // What logs may ask of the call, unless something else has the filter's name.
  void keepFigures() {
    if (!settings_.plan.has_filter_state) return;
    net::FilterState& state = net::ensureFilterState(scope_.notes.filter_state);
    const net::StateObject* const before = state.findObject(settings_.name);
    auto figures = std::make_shared<AuthzFigures>();
    if ((before && before->kind() == figures->kind()) || !state.put(settings_.name, figures)) {
      count(AuthzCounter::FilterStateNameCollision);
      return;
    }
    figures_ = std::move(figures);
  }

  // ---- what has come of it ----

  void onCallSpan(tracing::CallSpan& span, const calls::CallAnswer& answer) override {
    if (service_->http) {
      if (answer.is_broken) return;
      span.tag("ext_authz_http_status", http::reasonPhrase(answer.status));
      span.tag("ext_authz_status",
               answer.status == 200 ? "ext_authz_ok" : "ext_authz_unauthorized");
      return;
    }
    if (answer.grpc_status != 0) return;
    switch (AuthzAnswer::ofGrpc(answer).status) {
      case AuthzAnswer::Status::Ok:
        return span.tag("ext_authz_status", "ext_authz_ok");
      case AuthzAnswer::Status::Denied:
        return span.tag("ext_authz_status", "ext_authz_unauthorized");
      case AuthzAnswer::Status::Error:
        return span.tag("ext_authz_status", "ext_authz_error");
    }
  }

  void noteFigures(const calls::CallAnswer& answer) {
    if (!figures_ || !settings_.plan.tells_figures) return;
    figures_->latency_us = place_.loop().nowMicros() - started_at_us_;
    // Nothing else is known of other services.
    if (service_ != settings_.service.get() || service_->http || service_->service->isGoogle()) {
      return;
    }
    figures_->bytes = answer.bytes;
  }

  void onCallEnd(const calls::CallAnswer& answer) override {
    noteFigures(answer);
    answer_ = service_->http ? AuthzAnswer::ofHttp(answer, *service_) : AuthzAnswer::ofGrpc(answer);
    if (answer_.has_unknown_action && settings_.plan.validate_mutations) return reject();
    takeMetadata();
    switch (answer_.status) {
      case AuthzAnswer::Status::Ok:
        return onOk();
      case AuthzAnswer::Status::Denied:
        return onDenied();
      case AuthzAnswer::Status::Error:
        return onError();
    }
  }

  void onOk() {
    if (changes_.areWrong()) return reject();
    if (!changes_.fitRequest(place_)) {
      count(AuthzCounter::RequestHeaderLimitsReached);
      return reject();
    }
    count(AuthzCounter::Ok);
    countCluster(AuthzClusterCounter::Ok);
    if (const AuthzAnswer::Edit* const odd = changes_.findOddName()) return breakOff(odd->name);
    goOn();
  }

  void onDenied() {
    count(AuthzCounter::Denied);
    countCluster(AuthzClusterCounter::Denied);
    chargeCluster(answer_.http_status);
    if (settings_.plan.shadow_mode) {
      count(AuthzCounter::ShadowDenied);
      return passUnchanged();
    }
    if (changes_.isRefusalWrong()) return reject();
    cutBody();
    is_refused_ = true;
    refuse(answer_.http_status, "ext_authz_denied");
    reply_.body = answer_.body;
    place_.answer(reply_);
  }

  void onError() {
    count(AuthzCounter::Error);
    countCluster(AuthzClusterCounter::Error);
    if (settings_.plan.shadow_mode) {
      count(AuthzCounter::ShadowError);
      return passUnchanged();
    }
    if (settings_.plan.failure_mode_allow) {
      log::trace(log::Component::ExtAuthz, "ext_authz filter allowed the request with error");
      count(AuthzCounter::FailureModeAllowed);
      countCluster(AuthzClusterCounter::FailureModeAllowed);
      adds_failure_header_ = settings_.plan.failure_mode_allow_header_add;
      return goOn();
    }
    if (changes_.isRefusalWrong()) return reject();
    cutBody();
    is_refused_ = true;
    refuse(answer_.http_status > 0 ? answer_.http_status
                                   : static_cast<uint16_t>(settings_.plan.status_on_error),
           "ext_authz_error");
    reply_.body = answer_.body;
    place_.answer(reply_);
  }

  // No request can be made of it.
  void breakOff(std::string_view name) {
    broken_ = "invalid header name: ";
    broken_.append(name);
    broken_details_ = "filter_removed_required_request_headers{";
    broken_details_.append(broken_).append("}");
    std::ranges::replace(broken_details_, ' ', '_');
    reply_ = {503, broken_, broken_details_, format::ResponseFlag::DownstreamProtocolError};
    answer_ = {};
    place_.answer(reply_);
  }

  // What the service wants cannot be.
  void reject() {
    count(AuthzCounter::Invalid);
    countCluster(AuthzClusterCounter::Invalid);
    answer_ = {};
    refuse(500, "ext_authz_invalid");
    place_.answer(reply_);
  }

  void passUnchanged() {
    answer_ = {};
    goOn();
  }

  void goOn() {
    has_passed_ = true;
    place_.continueRequest();
  }

  void refuse(uint32_t status, std::string_view details) {
    reply_ = {static_cast<uint16_t>(status),
              {},
              details,
              format::ResponseFlag::UnauthorizedExternalService};
  }

  void cutBody() {
    const uint32_t most = settings_.plan.max_denied_body_bytes;
    if (most > 0 && answer_.body.size() > most) answer_.body.resize(most);
  }

  // Of a host's answer, with its status: how many there may be.
  bool isTooLarge(const http::HeaderMap& headers) const {
    format::FormatContext context;
    place_.describe(&context);
    if (context.details != "via_upstream") return false;
    uint32_t size = 1;
    for (const http::HeaderEntry& entry : headers) size += entry.name_size > 0 ? 1 : 0;
    return size > place_.responseLimits().count;
  }

  bool clearsRoute() const {
    if (!settings_.plan.clear_route_cache) return false;
    const std::vector<std::string>& names = settings_.plan.clear_route_headers;
    if (!names.empty()) {
      return std::ranges::any_of(answer_.edits, [&names](const AuthzAnswer::Edit& edit) {
        return std::ranges::find(names, edit.name) != names.end();
      });
    }
    return !answer_.edits.empty() || !answer_.query_set.empty() || !answer_.query_remove.empty();
  }

  void takeMetadata() {
    if (answer_.metadata.empty()) return;
    if (!settings_.plan.takes_metadata) {
      count(AuthzCounter::IgnoredDynamicMetadata);
      return;
    }
    if (answer_.status == AuthzAnswer::Status::Ok) {
      answer_.addDuration(place_.loop().nowMicros() - started_at_us_);
    }
    std::vector<plan::MetadataValue> values;
    if (!format::readStruct(answer_.metadata, &values)) return;
    metadata_.emplace(values);
    scope_.notes.metadata.push_back({kMetadataSpace, &*metadata_});
  }

  // ---- counting ----

  void count(AuthzCounter counter) const {
    settings_.stats->shard(scope_.worker + 1)->add(counter);
  }
  void countCluster(AuthzClusterCounter counter) const {
    if (!cluster_) return;
    settings_.cluster_counts->add(scope_.worker, cluster_->observabilityName(), counter);
  }
  void chargeCluster(uint16_t status) const {
    if (cluster_ && settings_.plan.charge_cluster) cluster_.countAnswer(status);
  }

  const ExtAuthzSettings& settings_;
  const FilterScope& scope_;
  FilterPlace& place_;
  calls::Call call_;
  const AuthzService* service_ = nullptr;
  // Null: the body is not told.
  const plan::ExtAuthzBody* body_ = nullptr;
  ChargedCluster cluster_;
  ExtAuthzCheck check_;
  std::string kept_;
  uint64_t body_bytes_ = 0;
  uint64_t started_at_us_ = 0;
  AuthzAnswer answer_;
  const AuthzChanges changes_{settings_, answer_};
  std::optional<format::FilterMetadata> metadata_;
  LocalReply reply_{403, {}, {}};
  std::string broken_;
  std::string broken_details_;
  bool is_buffering_ = false;
  bool is_http2_ = false;
  bool has_waited_ = false;
  bool has_passed_ = false;
  bool is_refused_ = false;
  bool adds_failure_header_ = false;
  bool hides_call_ = false;
  // Null: nobody asks for them.
  std::shared_ptr<AuthzFigures> figures_;
};

}  // namespace

BuiltFilter ExtAuthzConfig::build(const std::string& name, const plan::ExtAuthz& plan,
                                  const ConfigScope& scope) {
  auto config = std::make_shared<ExtAuthzConfig>();
  Result<std::unique_ptr<const ExtAuthzSettings>> settings = ExtAuthzSettings::build(
      name, plan, scope.registry, scope.stats, scope.workers, scope.slots, scope.clusters);
  if (!settings) return settings.error();
  config->settings_ = std::move(settings.value());
  scope.late_counts.add(config->settings_->cluster_counts);
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* ExtAuthzConfig::make(FilterMemory& memory, const FilterScope& scope,
                                 FilterPlace& place) const {
  for (const route::FilterConfig* config : place.routeConfigs()) {
    const ExtAuthzRoute* const route = ExtAuthzRoute::of(config);
    if (!route) continue;
    if (route->plan.disabled) return nullptr;
    break;
  }
  return memory.make<ExtAuthz>(*settings_, scope, place);
}

}  // namespace fairlead::filters
