#include "route/route_table.h"

#include <algorithm>

#include "base/text.h"

namespace fairlead::route {

namespace {

constexpr size_t kMaxDomainBytes = 512;

std::string_view withoutPort(std::string_view authority) {
  const size_t colon = authority.rfind(':');
  if (colon == std::string_view::npos || authority.find(']', colon) != std::string_view::npos) {
    return authority;
  }
  return authority.substr(0, colon);
}

void addLength(std::vector<size_t>& lengths, size_t length) {
  if (std::find(lengths.begin(), lengths.end(), length) != lengths.end()) return;
  lengths.push_back(length);
  std::sort(lengths.rbegin(), lengths.rend());
}

}  // namespace

Result<std::shared_ptr<const RouteTable>> RouteTable::build(const plan::RouteTable& plan) {
  auto table = std::make_shared<RouteTable>();
  table->name_ = plan.name;
  table->ignore_port_ = plan.ignore_port_in_host_matching;
  table->most_specific_wins_ = plan.most_specific_header_mutations_wins;
  if (plan.mutations) table->mutations_ = HeaderMutations(*plan.mutations);
  for (const plan::VirtualHost& host_plan : plan.virtual_hosts) {
    auto host = std::make_unique<VirtualHost>();
    host->plan = host_plan;
    host->plan.routes.clear();
    if (host_plan.mutations) host->mutations = HeaderMutations(*host_plan.mutations);
    for (const plan::Route& route_plan : host_plan.routes) {
      Result<Route> route = Route::build(route_plan, &table->cluster_names_);
      if (!route) {
        return Error{"virtual host '" + host_plan.name + "', route '" + route_plan.name +
                     "': " + route.error().message};
      }
      host->routes.push_back(std::move(route.value()));
    }
    host->index = std::make_unique<PathIndex>(host->routes);
    for (const std::string& domain : host_plan.domains) table->index(domain, host.get());
    table->hosts_.push_back(std::move(host));
  }
  return std::shared_ptr<const RouteTable>(std::move(table));
}

void RouteTable::index(const std::string& domain, const VirtualHost* host) {
  if (domain == "*") {
    any_ = host;
  } else if (domain.starts_with('*')) {
    suffixes_[domain.substr(1)] = host;
    addLength(suffix_lengths_, domain.size() - 1);
  } else if (domain.ends_with('*')) {
    prefixes_[domain.substr(0, domain.size() - 1)] = host;
    addLength(prefix_lengths_, domain.size() - 1);
  } else {
    exact_[domain] = host;
  }
}

const VirtualHost* RouteTable::findHost(std::string_view authority) const {
  if (exact_.empty() && suffixes_.empty() && prefixes_.empty()) return any_;
  if (ignore_port_) authority = withoutPort(authority);
  if (authority.size() > kMaxDomainBytes) return any_;
  char buffer[kMaxDomainBytes];
  for (size_t i = 0; i < authority.size(); ++i) buffer[i] = lowerAscii(authority[i]);
  const std::string_view domain(buffer, authority.size());
  if (const auto found = exact_.find(domain); found != exact_.end()) return found->second;
  // At least one byte stands for the asterisk.
  for (const size_t length : suffix_lengths_) {
    if (length >= domain.size()) continue;
    const auto found = suffixes_.find(domain.substr(domain.size() - length));
    if (found != suffixes_.end()) return found->second;
  }
  for (const size_t length : prefix_lengths_) {
    if (length >= domain.size()) continue;
    const auto found = prefixes_.find(domain.substr(0, length));
    if (found != prefixes_.end()) return found->second;
  }
  return any_;
}

}  // namespace fairlead::route
