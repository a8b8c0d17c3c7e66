#include "upstream/destination_hosts.h"

#include <utility>

namespace fairlead::upstream {

Host* DestinationHosts::at(const net::Address& address) {
  char buffer[net::Address::kTextBytes];
  const std::string_view text = address.writeText(buffer);
  if (const auto found = by_address_.find(text); found != by_address_.end()) return found->second;
  std::shared_ptr<Host> host = make(address);
  Host* const made = host.get();
  by_address_.emplace(text, made);
  new_.emplace(made, host);
  cluster_->madeHosts()->put({cluster_, std::move(host)});
  return made;
}

std::shared_ptr<Host> DestinationHosts::make(const net::Address& address) const {
  auto settings = std::make_shared<plan::Host>();
  plan::Address& to = settings->address.emplace();
  to.ip = address.ipBytes();
  to.port = address.port();
  settings->hostname = cluster_->name() + address.text();
  settings->weight = 1;
  return std::make_shared<Host>(std::move(settings), cluster_->madeHosts()->workers(),
                                cluster_->outlierWatch(), HostLoad::Uses::of(cluster_->settings()));
}

void DestinationHosts::setHosts(const HostSet& hosts) {
  by_address_.clear();
  for (const auto& host : hosts.hosts()) {
    new_.erase(host.get());
    by_address_.emplace(host->text(), host.get());
  }
  for (const auto& [address, host] : new_) by_address_.emplace(host->text(), host.get());
}

}  // namespace fairlead::upstream
