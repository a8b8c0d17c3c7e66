#include "filters/http/discovered.h"

#include "filters/http/http_filters.h"

namespace fairlead::filters {

namespace {

// Of one request: the filter that was there when it came, and what that one is made of.
class Discovered final : public HttpFilter {
 public:
  Discovered(DiscoveredConfig::Current config, HttpFilter* filter)
      : config_(std::move(config)), filter_(*filter) {}
  ~Discovered() override { filter_.~HttpFilter(); }

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView& view,
                             bool end) override {
    return filter_.onRequestHead(head, view, end);
  }
  FilterStatus onRequestData(std::string_view data, bool end) override {
    return filter_.onRequestData(data, end);
  }
  FilterStatus onRequestTrailers(http::HeaderMap& trailers) override {
    return filter_.onRequestTrailers(trailers);
  }
  void onRequestHeadReleased(http::RequestHead& head, Arena& arena) override {
    filter_.onRequestHeadReleased(head, arena);
  }
  void onRequestForwarded(const http::RequestHead& head) override {
    filter_.onRequestForwarded(head);
  }
  FilterStatus onResponseHead(uint16_t status, http::HeaderMap& headers, bool end,
                              Arena& arena) override {
    return filter_.onResponseHead(status, headers, end, arena);
  }
  FilterStatus onResponseData(std::string_view data, bool end) override {
    return filter_.onResponseData(data, end);
  }
  FilterStatus onResponseTrailers(http::HeaderMap& trailers) override {
    return filter_.onResponseTrailers(trailers);
  }
  void onResponseHeadReleased(uint16_t& status, http::HeaderMap& headers, Arena& arena) override {
    filter_.onResponseHeadReleased(status, headers, arena);
  }
  void onResponseSent(uint16_t status, const http::HeaderMap& headers) override {
    filter_.onResponseSent(status, headers);
  }
  std::string_view replacement() const override { return filter_.replacement(); }
  bool addTrailers(http::HeaderMap& trailers, Arena& arena) const override {
    return filter_.addTrailers(trailers, arena);
  }
  LocalReply answer() const override { return filter_.answer(); }
  void onEnd() override { filter_.onEnd(); }

 private:
  const DiscoveredConfig::Current config_;
  HttpFilter& filter_;
};

class NotDiscovered final : public HttpFilter {
 public:
  FilterStatus onRequestHead(http::RequestHead&, const route::RequestView&, bool) override {
    return FilterStatus::Answer;
  }
  LocalReply answer() const override {
    return {500, {}, kEmptyDetails, format::ResponseFlag::NoFilterConfigFound};
  }
};

// The router, which is behind all filters, has come.
class RouterThere final : public HttpFilterConfig {
 public:
  HttpFilter* make(FilterMemory&, const FilterScope&, FilterPlace&) const override {
    return nullptr;
  }
};

}  // namespace

BuiltFilter DiscoveredConfig::build(const plan::DiscoveredFilter& plan, const ConfigScope& scope) {
  // Another filter of the chain has changed: connections that there are share it with later ones.
  if (auto known = scope.discovered.find(plan.id)) {
    return std::shared_ptr<const HttpFilterConfig>(std::move(known));
  }
  const auto config = std::make_shared<DiscoveredConfig>(plan.id, scope);
  auto first = config->make(plan);
  if (!first) return first.error();
  for (unsigned worker = 0; worker < scope.workers; ++worker) config->set(worker, first.value());
  scope.discovered.add(config);
  return std::shared_ptr<const HttpFilterConfig>(config);
}

Result<std::shared_ptr<const HttpFilterConfig>> DiscoveredConfig::make(
    const plan::DiscoveredFilter& plan) const {
  if (plan.is_router)
    return std::shared_ptr<const HttpFilterConfig>(std::make_shared<RouterThere>());
  if (plan.filter.empty()) return std::shared_ptr<const HttpFilterConfig>();
  return buildHttpFilter(plan.filter.front(), scope_);
}

HttpFilter* DiscoveredConfig::make(FilterMemory& memory, const FilterScope& scope,
                                   FilterPlace& place) const {
  const Current& current = current_[scope.worker];
  if (!current) return memory.make<NotDiscovered>();
  HttpFilter* const filter = (*current)->make(memory, scope, place);
  return filter ? memory.make<Discovered>(current, filter) : nullptr;
}

}  // namespace fairlead::filters
