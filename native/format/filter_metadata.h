// Metadata that an HTTP filter's configuration sets on requests, as formats find it. Immutable;
// lives as long as the filter's configuration.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.gen.h"

namespace fairlead::format {

class FilterMetadata {
 public:
  struct Value {
    std::string text;
    // It stands as it is in JSON where values have types.
    bool is_json = false;
  };

  FilterMetadata() = default;
  explicit FilterMetadata(const std::vector<plan::MetadataValue>& plan) {
    for (const plan::MetadataValue& value : plan) {
      values_[value.path] = {value.text, value.is_json};
    }
  }
  bool isEmpty() const { return values_.empty(); }
  // By its keys, with a NUL between each two. Null: there is none.
  const Value* find(std::string_view path) const {
    const auto found = values_.find(path);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, Value, std::less<>> values_;
};

// What one filter has set on a request.
struct SetMetadata {
  // The filter's name.
  std::string_view space;
  const FilterMetadata* metadata;
};

}  // namespace fairlead::format
