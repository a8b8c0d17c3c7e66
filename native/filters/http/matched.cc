#include "filters/http/matched.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/json.h"
#include "filters/http/http_filters.h"
#include "net/filter_state.h"
#include "route/tree_facts.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

using CompositeCounter = stats::HttpComposite::Counter;

constexpr uint64_t kAllMillionths = 1'000'000;
constexpr std::string_view kMatchedActions =
    "envoy.extensions.filters.http.composite.matched_actions";

// What has taken the places of composite filters, for formats.
class MatchedActions final : public net::StateObject {
 public:
  static constexpr char kKind = 0;
  static constexpr const void* kKindAddress = &kKind;

  const void* kind() const override { return kKindAddress; }
  bool appendText(std::string* out) const override { return appendJson(out); }
  bool appendJson(std::string* out) const override {
    const char* separator = "{";
    for (const auto& [filter, action] : actions_) {
      out->append(separator);
      appendJsonString(out, filter);
      out->push_back(':');
      appendJsonString(out, action);
      separator = ",";
    }
    out->push_back('}');
    return true;
  }
  void set(const std::string& filter, const std::string& action) { actions_[filter] = action; }

 private:
  std::map<std::string, std::string> actions_;
};

// Of one request.
class Matched final : public HttpFilter {
 public:
  Matched(const MatchedConfig& config, HttpFilter* inner, const FilterScope& scope,
          FilterPlace& place)
      : config_(config),
        settings_(settingsOf(config, place)),
        inner_(inner),
        scope_(scope),
        place_(place) {}
  ~Matched() override {
    if (inner_) inner_->~HttpFilter();
  }

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView& view,
                             bool end) override {
    decide(route::TreeFacts(view), true);
    return passes() ? inner_->onRequestHead(head, view, end) : FilterStatus::Continue;
  }
  FilterStatus onRequestData(std::string_view data, bool end) override {
    return passes() ? inner_->onRequestData(data, end) : FilterStatus::Continue;
  }
  FilterStatus onRequestTrailers(http::HeaderMap& trailers) override {
    decideLater([&](route::TreeFacts& facts) { facts.request_trailers = &trailers; });
    return passes() ? inner_->onRequestTrailers(trailers) : FilterStatus::Continue;
  }
  void onRequestHeadReleased(http::RequestHead& head, Arena& arena) override {
    if (inner_) inner_->onRequestHeadReleased(head, arena);
  }
  void onRequestForwarded(const http::RequestHead& head) override {
    if (passes()) inner_->onRequestForwarded(head);
  }
  FilterStatus onResponseHead(uint16_t status, http::HeaderMap& headers, bool end,
                              Arena& arena) override {
    decideLater([&](route::TreeFacts& facts) {
      facts.response_headers = &headers;
      facts.status = status;
    });
    return passes() ? inner_->onResponseHead(status, headers, end, arena) : FilterStatus::Continue;
  }
  FilterStatus onResponseData(std::string_view data, bool end) override {
    return passes() ? inner_->onResponseData(data, end) : FilterStatus::Continue;
  }
  FilterStatus onResponseTrailers(http::HeaderMap& trailers) override {
    decideLater([&](route::TreeFacts& facts) { facts.response_trailers = &trailers; });
    return passes() ? inner_->onResponseTrailers(trailers) : FilterStatus::Continue;
  }
  void onResponseHeadReleased(uint16_t& status, http::HeaderMap& headers, Arena& arena) override {
    if (inner_) inner_->onResponseHeadReleased(status, headers, arena);
  }
  void onResponseSent(uint16_t status, const http::HeaderMap& headers) override {
    if (passes()) inner_->onResponseSent(status, headers);
  }
  std::string_view replacement() const override {
    return inner_ ? inner_->replacement() : std::string_view();
  }
  bool addTrailers(http::HeaderMap& trailers, Arena& arena) const override {
    return inner_ && inner_->addTrailers(trailers, arena);
  }
  LocalReply answer() const override { return inner_ ? inner_->answer() : LocalReply{500, {}, {}}; }
  void onEnd() override {
    if (inner_) inner_->onEnd();
  }

 private:
  static const MatchSettings* settingsOf(const MatchedConfig& config, const FilterPlace& place) {
    for (const route::FilterConfig* one : place.routeConfigs()) {
      if (const MatchSettings* settings = MatchSettings::of(one)) return settings;
    }
    return config.settings();
  }

  bool passes() const { return inner_ && !skips_; }

  // Once, as soon as all is there that it depends on.
  void decide(const route::TreeFacts& facts, bool at_head) {
    if (!settings_) return;
    const MatchSettings::Action* const action = settings_->find(facts);
    if (facts.lacksSomething()) {
      // Of an answer's, what the request was like is asked again.
      scope_.notes.keeps_request_head = true;
      return;
    }
    settings_ = nullptr;
    if (!action) return;
    if (action->skips) {
      skips_ = true;
    } else if (at_head) {
      delegate(*action);
    } else {
      config_.countDelegated(scope_.worker, false);
    }
  }

  template <typename Add>
  void decideLater(Add add) {
    if (!settings_) return;
    format::FormatContext context;
    place_.describe(&context);
    static const http::HeaderMap none{};
    const route::RequestView view{context.method,
                                  context.path,
                                  context.authority,
                                  context.scheme,
                                  context.request_headers ? context.request_headers : &none,
                                  scope_.stream_id,
                                  context.downstream_tls,
                                  &place_,
                                  [](const void* place, format::FormatContext* out) {
                                    static_cast<const FilterPlace*>(place)->describe(out);
                                  }};
    route::TreeFacts facts(view);
    add(facts);
    decide(facts, false);
  }

  void delegate(const MatchSettings::Action& action) {
    if (action.filters.empty()) return;
    if (action.share && scope_.stream_id % kAllMillionths >= action.share->value()) return;
    config_.countDelegated(scope_.worker, true);
    if (net::isFilterStateWanted()) tellAction(action.name);
    place_.insert(action.filters);
  }

  void tellAction(const std::string& name) {
    net::FilterState& state = net::ensureFilterState(scope_.notes.filter_state);
    std::shared_ptr<net::StateObject> known = state.shareObject(kMatchedActions);
    if (!known) {
      known = std::make_shared<MatchedActions>();
      if (!state.put(kMatchedActions, known)) return;
    }
    if (known->kind() != MatchedActions::kKindAddress) return;
    static_cast<MatchedActions&>(*known).set(config_.name(), name);
  }

  const MatchedConfig& config_;
  // Null: it is decided.
  const MatchSettings* settings_;
  HttpFilter* const inner_;
  const FilterScope& scope_;
  FilterPlace& place_;
  bool skips_ = false;
};

}  // namespace

Result<std::unique_ptr<const MatchSettings>> MatchSettings::build(const plan::MatchSettings& plan,
                                                                  const ConfigScope& scope) {
  auto settings = std::make_unique<MatchSettings>();
  auto tree = match::MatchTree::build(plan.tree.value_or(plan::MatchTree()), &scope.slots);
  if (!tree) return tree.error();
  settings->tree_ = std::move(tree.value());
  for (const plan::MatchAction& action_plan : plan.actions) {
    Action& action = settings->actions_.emplace_back();
    action.skips = action_plan.skips;
    action.name = action_plan.name;
    if (action_plan.share) {
      action.share.emplace(action_plan.share->millionths, action_plan.share->slot, &scope.slots);
    }
    for (const plan::HttpFilter& filter_plan : action_plan.filters) {
      BuiltFilter filter = buildHttpFilter(filter_plan, scope);
      if (!filter) return filter.error();
      action.filters.push_back(std::move(filter.value()));
    }
  }
  return std::unique_ptr<const MatchSettings>(std::move(settings));
}

const MatchSettings::Action* MatchSettings::find(const match::Facts& facts) const {
  const int found = tree_.find(facts);
  if (found == match::MatchTree::kNone) return nullptr;
  const auto number = static_cast<size_t>(found);
  return number < actions_.size() ? &actions_[number] : nullptr;
}

BuiltFilter MatchedConfig::build(const plan::HttpFilter& plan,
                                 std::shared_ptr<const HttpFilterConfig> inner,
                                 const ConfigScope& scope) {
  auto config = std::make_shared<MatchedConfig>();
  config->name_ = plan.name;
  config->inner_ = std::move(inner);
  if (plan.match) {
    auto settings = MatchSettings::build(*plan.match, scope);
    if (!settings) return settings.error();
    config->settings_ = std::move(settings.value());
  }
  if (plan.composite) {
    config->stats_ =
        scope.registry.create<stats::HttpComposite>(stats::innerScope(scope.stats, "composite."));
  }
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* MatchedConfig::make(FilterMemory& memory, const FilterScope& scope,
                                FilterPlace& place) const {
  HttpFilter* const inner = inner_ ? inner_->make(memory, scope, place) : nullptr;
  if (inner_ && !inner) return nullptr;
  return memory.make<Matched>(*this, inner, scope, place);
}

void MatchedConfig::countDelegated(unsigned worker, bool is_done) const {
  if (!stats_) return;
  stats_->shard(worker + 1)
      ->add(is_done ? CompositeCounter::FilterDelegationSuccess
                    : CompositeCounter::FilterDelegationError);
}

}  // namespace fairlead::filters
