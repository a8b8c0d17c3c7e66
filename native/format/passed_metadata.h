// Metadata that a host or a cluster has of its own, told to the internal listener that a connection
// goes to: that connection's dynamic metadata there. Immutable; on one worker.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "format/filter_metadata.h"
#include "plan/plan.gen.h"

namespace fairlead::format {

class PassedMetadata {
 public:
  explicit PassedMetadata(const std::vector<const plan::MetadataSpace*>& spaces) {
    spaces_.reserve(spaces.size());
    for (const plan::MetadataSpace* space : spaces) {
      spaces_.push_back({space->name, FilterMetadata(space->values)});
    }
    for (const Space& space : spaces_) all_.push_back({space.name, &space.values});
  }
  PassedMetadata(const PassedMetadata&) = delete;
  PassedMetadata& operator=(const PassedMetadata&) = delete;

  std::span<const SetMetadata> all() const { return all_; }

 private:
  struct Space {
    std::string name;
    FilterMetadata values;
  };
  std::vector<Space> spaces_;
  std::vector<SetMetadata> all_;
};

}  // namespace fairlead::format
