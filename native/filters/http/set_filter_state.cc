#include "filters/http/set_filter_state.h"

#include "net/shared_states.h"
#include "net/state_value.h"

namespace fairlead::filters {

namespace {

// Of one request: what the filter says, and then what routes say, the most specific last.
class SetFilterState final : public HttpFilter {
 public:
  SetFilterState(const SetFilterStateConfig& config, const FilterScope& scope, FilterPlace& place)
      : config_(config), scope_(scope), place_(place) {}

  FilterStatus onRequestHead(http::RequestHead&, const route::RequestView&, bool) override {
    bool clears_route = set(config_.values());
    const route::FilterConfigList own = place_.routeConfigs();
    for (size_t i = own.size(); i > 0; --i) {
      if (const auto* values = FilterStateValues::of(own[i - 1])) clears_route |= set(*values);
    }
    if (clears_route) place_.clearRoute();
    return FilterStatus::Continue;
  }

 private:
  bool set(const FilterStateValues& values) {
    format::FormatContext context;
    place_.describe(&context);
    values.set(scope_.notes.filter_state, context);
    return values.clearsRoute();
  }

  const SetFilterStateConfig& config_;
  const FilterScope& scope_;
  FilterPlace& place_;
};

}  // namespace

FilterStateValues::FilterStateValues(const plan::SetFilterState& plan)
    : clears_route_(plan.clears_route) {
  for (const plan::FilterStateValue& value : plan.values) {
    values_.push_back({value, format::Format(value.value.value_or(plan::Format()))});
    net::noteState(value);
  }
}

void FilterStateValues::set(std::unique_ptr<net::FilterState>& state,
                            format::FormatContext& context) const {
  std::string text;
  for (const Value& value : values_) {
    text.clear();
    value.format.appendLine(context, &text);
    if (text.empty() && value.plan.skips_empty) continue;
    net::FilterState::Form form;
    if (!net::readStateValue(value.plan.kind, &text, &form)) continue;
    net::ensureFilterState(state).set(value.plan.key, text, value.plan.read_only, form,
                                      net::sharingOf(value.plan));
    // Those that follow may speak of it.
    context.filter_state = state.get();
  }
}

HttpFilter* SetFilterStateConfig::make(FilterMemory& memory, const FilterScope& scope,
                                       FilterPlace& place) const {
  return memory.make<SetFilterState>(*this, scope, place);
}

}  // namespace fairlead::filters
