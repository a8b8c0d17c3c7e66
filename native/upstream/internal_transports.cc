#include "upstream/internal_transports.h"

#include <algorithm>
#include <vector>

#include "format/passed_metadata.h"

namespace fairlead::upstream {

std::shared_ptr<const format::PassedMetadata> InternalTransports::metadataFor(
    const plan::Host& host, unsigned worker) const {
  std::vector<const plan::MetadataSpace*> spaces;
  uint64_t missing = plan_.missing;
  for (const std::string& name : plan_.host_namespaces) {
    const auto found = std::find_if(host.metadata.begin(), host.metadata.end(),
                                    [&name](const auto& space) { return space.name == name; });
    if (found == host.metadata.end()) {
      ++missing;
    } else {
      spaces.push_back(&*found);
    }
  }
  for (const plan::MetadataSpace& space : plan_.cluster_metadata) spaces.push_back(&space);
  if (missing > 0) {
    stats_->shard(worker + 1)->add(stats::InternalUpstream::Counter::NoMetadata, missing);
  }
  if (spaces.empty()) return nullptr;
  return std::make_shared<const format::PassedMetadata>(spaces);
}

}  // namespace fairlead::upstream
