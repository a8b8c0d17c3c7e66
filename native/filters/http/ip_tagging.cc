#include "filters/http/ip_tagging.h"

#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

using IpTagCounter = stats::HttpIpTagging::Counter;
using IpTagRequests = plan::IpTagging::Requests;

constexpr http::HeaderId kTagHeader = http::HeaderId::XEnvoyIpTags;

// Of one request.
class IpTagging final : public HttpFilter {
 public:
  IpTagging(const IpTaggingConfig& config, FilterMemory& memory, const FilterScope& scope,
            FilterPlace& place)
      : config_(config), memory_(memory), scope_(scope), place_(place) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&, bool) override {
    const http::HeaderEntry* const internal = head.headers.find(http::HeaderId::XEnvoyInternal);
    const bool is_internal = internal && internal->value() == "true";
    if (config_.requests() == IpTagRequests::Internal && !is_internal)
      return FilterStatus::Continue;
    if (config_.requests() == IpTagRequests::External && is_internal) return FilterStatus::Continue;
    const std::string tags = findTags();
    auto& stats = config_.stats(scope_.worker);
    if (tags.empty()) {
      stats.add(IpTagCounter::NoHit);
      if (!config_.header().empty() && !config_.appends() && removeHeader(head.headers)) {
        place_.clearRoute();
      }
    } else {
      tell(memory_.keep(tags), head.headers);
      place_.clearRoute();
    }
    stats.add(IpTagCounter::Total);
    return FilterStatus::Continue;
  }

 private:
  std::string findTags() {
    format::FormatContext context;
    place_.describe(&context);
    std::string tags;
    if (!context.downstream_remote) return tags;
    std::vector<uint32_t> found;
    config_.ranges().find(*context.downstream_remote, &found);
    for (const uint32_t number : found) {
      const IpTaggingConfig::Tag& tag = config_.tags()[number];
      if (!tags.empty()) tags.push_back(',');
      tags.append(tag.name);
      tag.stats->shard(scope_.worker + 1)->add(stats::HttpIpTag::Counter::Hit);
    }
    return tags;
  }

  bool removeHeader(http::HeaderMap& headers) {
    bool is_there = false;
    for (http::HeaderEntry& entry : headers) {
      if (!config_.header().names(entry)) continue;
      entry.remove();
      is_there = true;
    }
    return is_there;
  }

  void tell(std::string_view tags, http::HeaderMap& headers) {
    if (config_.header().empty()) {
      if (http::HeaderEntry* const there = headers.find(kTagHeader)) {
        there->setValue(memory_.arena().join(there->value(), ",", tags));
      } else {
        headers.add(kTagHeader, http::headerName(kTagHeader), tags);
      }
      return;
    }
    const std::string& name = config_.header().text();
    const http::HeaderEntry* const there = config_.header().find(headers);
    if (config_.appends() && there) {
      const_cast<http::HeaderEntry*>(there)->setValue(
          memory_.arena().join(there->value(), ",", tags));
      return;
    }
    removeHeader(headers);
    headers.add(http::internHeader(name), name, tags);
  }

  const IpTaggingConfig& config_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  FilterPlace& place_;
};

}  // namespace

IpTaggingConfig::IpTaggingConfig(const plan::IpTagging& plan, const ConfigScope& scope)
    : requests_(plan.requests),
      header_(plan.header),
      appends_(plan.appends),
      stats_(scope.registry.create<stats::HttpIpTagging>(innerScope(scope.stats, "ip_tagging."))) {
  for (const plan::IpTag& tag : plan.tags) {
    const auto number = static_cast<uint32_t>(tags_.size());
    Tag& made = tags_.emplace_back();
    made.name = tag.name;
    for (const plan::CidrRange& range : tag.ranges) ranges_.add(range, number);
    made.stats = scope.registry.create<stats::HttpIpTag>(
        innerScope(scope.stats, "ip_tagging." + tag.name + "."));
  }
}

HttpFilter* IpTaggingConfig::make(FilterMemory& memory, const FilterScope& scope,
                                  FilterPlace& place) const {
  return memory.make<IpTagging>(*this, memory, scope, place);
}

}  // namespace fairlead::filters
