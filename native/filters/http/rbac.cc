#include "filters/http/rbac.h"

#include <utility>

#include "base/json.h"

namespace fairlead::filters {

namespace {

using RbacCounter = stats::HttpRbac::Counter;
using RbacShadowCounter = stats::HttpRbacShadow::Counter;

constexpr std::string_view kRbacSpace = "envoy.filters.http.rbac";
// Where access loggers look whether they are to log.
constexpr std::string_view kCommonSpace = "envoy.common";

plan::MetadataValue textAt(std::string path, std::string text) {
  plan::MetadataValue value;
  value.path = std::move(path);
  value.text = std::move(text);
  return value;
}

// `prefix`: before both keys.
format::FilterMetadata outcomeOf(const std::string& prefix, const std::string* policy,
                                 bool is_allowed) {
  const std::string result = is_allowed ? "allowed" : "denied";
  std::string json = "{";
  std::vector<plan::MetadataValue> values;
  if (policy) {
    appendJsonString(&json, prefix + "effective_policy_id");
    json += ':';
    appendJsonString(&json, *policy);
    json += ',';
    values.push_back(textAt(prefix + "effective_policy_id", *policy));
  }
  appendJsonString(&json, prefix + "engine_result");
  json += ":\"" + result + "\"}";
  values.push_back(textAt(prefix + "engine_result", result));
  plan::MetadataValue all = textAt({}, json);
  all.is_json = true;
  values.push_back(std::move(all));
  return format::FilterMetadata(values);
}

// Of one request.
class Rbac final : public HttpFilter {
 public:
  Rbac(const RbacConfig& config, const RbacSettings& settings, const FilterScope& scope,
       FilterPlace& place)
      : config_(config), settings_(settings), scope_(scope), place_(place) {}

  // As the real server: no connection is made for a request that may not have it.
  FilterStatus onHostChosen(const http::RequestHead&, const route::RequestView& view) override {
    was_asked_ = true;
    // As the real server, which asks nothing about what came by no connection.
    if (!place_.hasClient()) return FilterStatus::Continue;
    return decide(view);
  }

  FilterStatus onRequestHead(http::RequestHead&, const route::RequestView& view, bool) override {
    return was_asked_ ? FilterStatus::Continue : decide(view);
  }

  LocalReply answer() const override {
    return {403, "RBAC: access denied", settings_.enforced.rules->detailsOf(policy_)};
  }

 private:
  FilterStatus decide(const route::RequestView& view) {
    // All rules are asked before anything is told: they do not see what the others have found, and
    // what is told moves the metadata that the context speaks of.
    format::FormatContext context;
    place_.describe(&context);
    const RbacRequest request{view, context, place_.peer()};
    const RbacRules* const shadow = settings_.shadow.rules.get();
    const RbacRules* const enforced = settings_.enforced.rules.get();
    const int shadow_policy = shadow ? shadow->find(request) : -1;
    policy_ = enforced ? enforced->find(request) : -1;
    if (shadow) tellShadow(*shadow, shadow_policy);
    if (!enforced) return FilterStatus::Continue;
    const bool is_allowed = enforced->allows(policy_);
    config_.count(settings_, scope_.worker, policy_, is_allowed);
    tellOutcome(settings_.enforced, config_.settings().enforced, policy_, is_allowed, &own_);
    if (enforced->tellsLogs(policy_)) {
      tell(kCommonSpace, policy_ >= 0 ? settings_.logged : settings_.not_logged);
    }
    return is_allowed ? FilterStatus::Continue : FilterStatus::Answer;
  }
  void tellShadow(const RbacRules& rules, int policy) {
    const bool is_allowed = rules.allows(policy);
    config_.countShadow(settings_, scope_.worker, policy, is_allowed);
    tellOutcome(settings_.shadow, config_.settings().shadow, policy, is_allowed, &own_shadow_);
  }
  // By the filter's prefix, whatever that of the route's rules is.
  void tellOutcome(const RbacSettings::Engine& engine, const RbacSettings::Engine& of_filter,
                   int policy, bool is_allowed, format::FilterMetadata* own) {
    if (engine.prefix == of_filter.prefix) {
      tell(kRbacSpace, engine.outcome(policy, is_allowed));
      return;
    }
    const std::string* const name =
        policy < 0 ? nullptr : &engine.rules->nameOf(static_cast<size_t>(policy));
    *own = outcomeOf(of_filter.prefix, name, is_allowed);
    tell(kRbacSpace, *own);
  }
  void tell(std::string_view space, const format::FilterMetadata& metadata) {
    scope_.notes.metadata.push_back({space, &metadata});
  }

  const RbacConfig& config_;
  const RbacSettings& settings_;
  const FilterScope& scope_;
  FilterPlace& place_;
  // The enforced one that fits.
  int policy_ = -1;
  bool was_asked_ = false;
  // Outcomes of a route's rules, where keys differ; empty: they do not.
  format::FilterMetadata own_;
  format::FilterMetadata own_shadow_;
};

format::FilterMetadata hintOf(bool is_logged) {
  const std::string text = is_logged ? "true" : "false";
  plan::MetadataValue hint = textAt("access_log_hint", text);
  plan::MetadataValue all = textAt({}, "{\"access_log_hint\":" + text + "}");
  hint.is_json = all.is_json = true;
  return format::FilterMetadata({hint, all});
}

Result<RbacSettings::Engine> engineOf(const Boxed<plan::RbacRules>& plan,
                                      const Boxed<plan::RbacTree>& tree, std::string prefix) {
  RbacSettings::Engine engine;
  engine.prefix = std::move(prefix);
  Result<std::unique_ptr<const RbacRules>> rules = RbacRules::build(plan, tree);
  if (!rules) return rules.error();
  if (!rules.value()) return engine;
  engine.rules = std::move(rules.value());
  for (size_t i = 0; i <= engine.rules->size(); ++i) {
    const std::string* name = i < engine.rules->size() ? &engine.rules->nameOf(i) : nullptr;
    for (const bool is_allowed : {false, true}) {
      engine.outcomes.push_back(outcomeOf(engine.prefix, name, is_allowed));
    }
  }
  return engine;
}

}  // namespace

Result<std::unique_ptr<const RbacSettings>> RbacSettings::build(const plan::Rbac& plan) {
  auto settings = std::make_unique<RbacSettings>();
  Result<Engine> enforced = engineOf(plan.rules, plan.tree, plan.stat_prefix + "enforced_");
  if (!enforced) return enforced.error();
  settings->enforced = std::move(enforced.value());
  Result<Engine> shadow =
      engineOf(plan.shadow, plan.shadow_tree, plan.shadow_stat_prefix + "shadow_");
  if (!shadow) return shadow.error();
  settings->shadow = std::move(shadow.value());
  settings->counts_policies = plan.counts_policies;
  settings->logged = hintOf(true);
  settings->not_logged = hintOf(false);
  return std::unique_ptr<const RbacSettings>(std::move(settings));
}

BuiltFilter RbacConfig::build(const plan::Rbac& plan, const ConfigScope& scope) {
  auto config = std::make_shared<RbacConfig>();
  Result<std::unique_ptr<const RbacSettings>> settings = RbacSettings::build(plan);
  if (!settings) return settings.error();
  config->settings_ = std::move(settings.value());
  const stats::Scope own = stats::rbacScope(scope.stats, plan.stat_prefix);
  const stats::Scope shadow = stats::rbacScope(scope.stats, plan.shadow_stat_prefix);
  config->stats_ = scope.registry.create<stats::HttpRbac>(own);
  config->shadow_stats_ = scope.registry.create<stats::HttpRbacShadow>(shadow);
  if (plan.counts_policies) {
    const auto policies = [](const RbacSettings::Engine& engine, auto create) {
      for (size_t i = 0; engine.rules && i < engine.rules->size(); ++i) {
        create(engine.rules->nameOf(i));
      }
    };
    policies(config->settings_->enforced, [&](const std::string& policy) {
      config->policy_stats_.push_back(
          scope.registry.create<stats::HttpRbacPolicy>(stats::rbacPolicyScope(own, policy)));
    });
    policies(config->settings_->shadow, [&](const std::string& policy) {
      config->shadow_policy_stats_.push_back(scope.registry.create<stats::HttpRbacShadowPolicy>(
          stats::rbacPolicyScope(shadow, policy)));
    });
  }
  config->route_stats_ = std::make_shared<RouteCounts<stats::HttpRbacPolicy>>(scope.workers, own);
  config->route_shadow_stats_ =
      std::make_shared<RouteCounts<stats::HttpRbacShadowPolicy>>(scope.workers, shadow);
  scope.late_counts.add(config->route_stats_);
  scope.late_counts.add(config->route_shadow_stats_);
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

void RbacConfig::count(const RbacSettings& settings, unsigned worker, int policy,
                       bool is_allowed) const {
  stats_->shard(worker + 1)->add(is_allowed ? RbacCounter::Allowed : RbacCounter::Denied);
  if (policy < 0 || !settings.counts_policies) return;
  using Counter = stats::HttpRbacPolicy::Counter;
  const Counter counter = is_allowed ? Counter::Allowed : Counter::Denied;
  const auto index = static_cast<size_t>(policy);
  if (&settings == settings_.get()) {
    policy_stats_[index]->shard(worker + 1)->add(counter);
  } else {
    route_stats_->add(worker, settings.enforced.rules->nameOf(index), counter);
  }
}

void RbacConfig::countShadow(const RbacSettings& settings, unsigned worker, int policy,
                             bool is_allowed) const {
  shadow_stats_->shard(worker + 1)
      ->add(is_allowed ? RbacShadowCounter::ShadowAllowed : RbacShadowCounter::ShadowDenied);
  if (policy < 0 || !settings.counts_policies) return;
  using Counter = stats::HttpRbacShadowPolicy::Counter;
  const Counter counter = is_allowed ? Counter::ShadowAllowed : Counter::ShadowDenied;
  const auto index = static_cast<size_t>(policy);
  if (&settings == settings_.get()) {
    shadow_policy_stats_[index]->shard(worker + 1)->add(counter);
  } else {
    route_shadow_stats_->add(worker, settings.shadow.rules->nameOf(index), counter);
  }
}

HttpFilter* RbacConfig::make(FilterMemory& memory, const FilterScope& scope,
                             FilterPlace& place) const {
  const RbacSettings* settings = settings_.get();
  const route::FilterConfigList own = place.routeConfigs();
  if (!own.empty() && RbacSettings::of(own.front())) settings = RbacSettings::of(own.front());
  if (!settings->enforced.rules && !settings->shadow.rules) return nullptr;
  return memory.make<Rbac>(*this, *settings, scope, place);
}

}  // namespace fairlead::filters
