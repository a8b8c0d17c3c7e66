// One worker's hosts of a cluster that makes them as requests ask for them (ORIGINAL_DST), by their
// addresses. Part of its WorkerCluster; the worker's thread. Two workers that are asked for the
// same address at once make a host each, as in the real server.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "upstream/cluster.h"

namespace fairlead::upstream {

class DestinationHosts {
 public:
  explicit DestinationHosts(std::shared_ptr<Cluster> cluster) : cluster_(std::move(cluster)) {}

  // The host at that address, which is made if there is none. Good until the next setHosts().
  Host* at(const net::Address& address);
  // Those that the control thread knows.
  void setHosts(const HostSet& hosts);
  // It was made here, and the control thread has not taken it up yet.
  bool isNew(const Host* host) const { return new_.contains(host); }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  std::shared_ptr<Host> make(const net::Address& address) const;

  const std::shared_ptr<Cluster> cluster_;
  // By "10.0.0.1:80". The set holds those that are not new.
  std::unordered_map<std::string, Host*, Hash, std::equal_to<>> by_address_;
  std::unordered_map<const Host*, std::shared_ptr<Host>> new_;
};

}  // namespace fairlead::upstream
