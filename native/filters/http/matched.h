// A filter that only some requests pass, by a tree of matchers (ExtensionWithMatcher), and
// envoy.filters.http.composite: what such a tree names stands in the filter's place.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "filters/http/http_filter.h"
#include "match/match_tree.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

// A tree and what it may end with: of the filter, or of a route.
class MatchSettings final : public route::FilterConfig {
 public:
  static Result<std::unique_ptr<const MatchSettings>> build(const plan::MatchSettings& plan,
                                                            const ConfigScope& scope);
  static const MatchSettings* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const MatchSettings*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  struct Action {
    bool skips = false;
    // What is told to have taken the filter's place.
    std::string name;
    std::vector<std::shared_ptr<const HttpFilterConfig>> filters;
    // In millionths; absent: all.
    std::optional<RuntimeNumber> share;
  };

  // Null: the request passes the filter. `lacks`: it cannot be said so far.
  const Action* find(const match::Facts& facts) const;

 private:
  static constexpr char kKind = 0;

  match::MatchTree tree_;
  std::vector<Action> actions_;
};

class MatchedConfig final : public HttpFilterConfig {
 public:
  // `inner`: null: the filter itself does nothing.
  static BuiltFilter build(const plan::HttpFilter& plan,
                           std::shared_ptr<const HttpFilterConfig> inner, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  const MatchSettings* settings() const { return settings_.get(); }
  const std::string& name() const { return name_; }
  void countDelegated(unsigned worker, bool is_done) const;

 private:
  // As the configuration calls it.
  std::string name_;
  std::shared_ptr<const HttpFilterConfig> inner_;
  // Null: routes alone say something.
  std::unique_ptr<const MatchSettings> settings_;
  // Of composites.
  std::shared_ptr<stats::Block<stats::HttpComposite>> stats_;
};

}  // namespace fairlead::filters
