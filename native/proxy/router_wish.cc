// What a router wants of the host that it is given: by what its request and its connection say, by
// what filters have set, and by what its cluster asks for.
#include "base/json.h"
#include "base/text.h"
#include "proxy/destination.h"
#include "proxy/downstream.h"
#include "proxy/request_rules.h"
#include "proxy/router.h"
#include "proxy/stream.h"
#include "proxy/subset_wish.h"
#include "upstream/state_wishes.h"

namespace fairlead::proxy {

using http::HeaderEntry;
using http::HeaderMap;

namespace {

// As paths of metadata are written.
std::string joinedPath(const std::vector<std::string>& keys) {
  std::string path;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i > 0) path += '\0';
    path += keys[i];
  }
  return path;
}

}  // namespace

upstream::HttpPool* Router::chooseByWish(const route::RequestView& view,
                                         const filters::FilterNotes::OverrideHost* named) {
  if (!info_.uncommon().metadata.empty() || info_.downstream->findings()) wishBySubset();
  if (const plan::DestinationHosts* const rules = info_.cluster->destinationRules()) {
    if (!wanted_) wanted_ = std::make_unique<Wanted>();
    const StreamInfo::Uncommon& uncommon = info_.uncommon();
    wanted_->destination =
        findDestination(*rules, {view.headers, uncommon.metadata, uncommon.filter_state.get()},
                        info_.downstream, clusterStats());
  }
  if (const plan::HostOverrides* const rules = info_.cluster->overrideRules()) {
    wishByOverrides(*rules, *view.headers);
  }
  if (info_.cluster->goesByHash()) {
    if (!wanted_) wanted_ = std::make_unique<Wanted>();
    const net::DownstreamConnection& connection = *info_.downstream;
    wanted_->hash = hashPoliciesOf(info_).hash({.request = view,
                                                .client = info_.client_address,
                                                .peer = connection.remote(),
                                                .local = connection.local()},
                                               &wanted_->new_cookies);
  }
  upstream::HostWish own = wish();
  if (named) {
    own.named_host = named->address;
    own.is_strict = named->is_strict;
  }
  return info_.cluster->chooseHttpPool(info_.clientVersion(), own);
}

void Router::wishByName(const plan::NamedHosts& hosts, std::string_view authority) {
  if (!wanted_) wanted_ = std::make_unique<Wanted>();
  const upstream::HostByState by_state =
      upstream::hostByState(info_.downstream->filterState(), info_.uncommon().filter_state.get());
  wanted_->name = by_state.nameOr(authority, hosts.default_port);
  if (authority.empty() && by_state.host.empty()) wanted_->no_host = "empty_host_header";
}

// What filters have set goes before what the route says of the same key.
void Router::wishBySubset() {
  std::optional<plan::SubsetCriteria> own =
      subsetOf(&info_.target->criteria, info_.downstream->findings(), info_.uncommon().metadata);
  if (!own) return;
  if (!wanted_) wanted_ = std::make_unique<Wanted>();
  wanted_->criteria = std::move(own);
}

upstream::HostWish Router::wish() const {
  if (!wanted_) return {.criteria = &info_.target->criteria};
  return {.hash = wanted_->hash,
          .criteria = wanted_->criteria ? &*wanted_->criteria : &info_.target->criteria,
          .destination = wanted_->destination ? &*wanted_->destination : nullptr,
          .name = wanted_->name,
          .overrides = wanted_->overrides.hosts.empty() ? nullptr : &wanted_->overrides};
}

// All that sources say, one after the other: of a header its first line.
void Router::wishByOverrides(const plan::HostOverrides& rules, const HeaderMap& headers) {
  constexpr size_t kMostHosts = 64;
  if (!wanted_) wanted_ = std::make_unique<Wanted>();
  std::vector<std::string>& hosts = wanted_->overrides.hosts;
  for (const plan::HostSource& source : rules.sources) {
    std::string_view text;
    if (!source.header.empty()) {
      const HeaderEntry* const entry = headers.find(source.header);
      if (entry) text = entry->value();
    } else {
      const std::string path = joinedPath(source.metadata_path);
      for (const format::SetMetadata& set : info_.uncommon().metadata) {
        if (set.space != source.metadata_namespace) continue;
        const format::FilterMetadata::Value* const value = set.metadata->find(path);
        if (value && !value->is_json) text = value->text;
      }
    }
    forEachToken(text, [&hosts](std::string_view host) {
      if (!host.empty()) hosts.emplace_back(host);
      return hosts.size() < kMostHosts;
    });
  }
}

void Router::tellChosenHost(const upstream::Host& host) {
  const plan::HostOverrides& rules = *info_.cluster->overrideRules();
  if (rules.told_namespace.empty()) return;
  if (!wanted_) wanted_ = std::make_unique<Wanted>();
  std::string json;
  for (const std::string& key : rules.told_path) {
    appendJsonString(&json.append("{"), key);
    json += ':';
  }
  appendJsonString(&json, host.text());
  json.append(rules.told_path.size(), '}');
  plan::MetadataValue all;
  all.text = std::move(json);
  all.is_json = true;
  plan::MetadataValue own;
  own.path = joinedPath(rules.told_path);
  own.text = host.text();
  wanted_->told_host.emplace(std::vector<plan::MetadataValue>{std::move(own), std::move(all)});
  std::vector<format::SetMetadata>& metadata = info_.touchUncommon().metadata;
  // That of a try before it is the same object.
  std::erase_if(metadata, [this](const format::SetMetadata& set) {
    return set.metadata == &*wanted_->told_host;
  });
  metadata.push_back({rules.told_namespace, &*wanted_->told_host});
}

void Router::tellNewCookies(HeaderMap& headers) const {
  if (!wanted_) return;
  for (const std::string& cookie : wanted_->new_cookies) {
    headers.add(http::internHeader("set-cookie"), "set-cookie", cookie);
  }
}

}  // namespace fairlead::proxy
