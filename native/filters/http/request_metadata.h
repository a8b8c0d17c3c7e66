// Dynamic metadata that a filter sets on a request, as what it knows of that request. The filter
// owns it: it lives as long as logs and other filters ask for it. The worker's thread.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "base/json_tree.h"
#include "filters/http/http_filter.h"
#include "format/filter_metadata.h"

namespace fairlead::filters {

class RequestMetadata {
 public:
  // Adds the members of an object to what the space has; those of the same names are replaced.
  void set(FilterNotes& notes, std::string_view space, const JsonNode& object);
  // The same of one member.
  void set(FilterNotes& notes, std::string_view space, std::string_view key, const JsonNode& value);
  // Null: nothing has been set there.
  static const format::FilterMetadata* latest(const FilterNotes& notes, std::string_view space);

 private:
  struct Kept {
    std::string space;
    format::FilterMetadata metadata;
  };

  std::deque<Kept> kept_;
};

// Every value of an object by its path, and the object itself.
format::FilterMetadata asMetadata(const JsonNode& object);

}  // namespace fairlead::filters
