// Trailers that wait for the last of a body which a filter makes. Part of a filter.
#pragma once

#include <algorithm>

#include "filters/http/http_filter.h"

namespace fairlead::filters {

class KeptTrailers {
 public:
  // A copy, in the filter's memory.
  void keep(const http::HeaderMap& trailers, FilterMemory& memory) {
    has_ = true;
    size_ = 0;
    entries_ = memory.makeMany<http::HeaderEntry>(trailers.size());
    for (const http::HeaderEntry& entry : trailers) {
      if (entry.name_size == 0) continue;
      http::HeaderEntry& kept = entries_[size_++];
      kept = entry;
      kept.name_data = memory.keep(entry.name()).data();
      kept.setValue(memory.keep(entry.value()));
    }
  }
  // False: there were none.
  bool addTo(http::HeaderMap& trailers) const {
    std::for_each_n(entries_, size_, [&](const http::HeaderEntry& entry) {
      trailers.add(entry.id, entry.name(), entry.value());
    });
    return has_;
  }

 private:
  http::HeaderEntry* entries_ = nullptr;
  size_t size_ = 0;
  bool has_ = false;
};

}  // namespace fairlead::filters
