// Texts that filters keep with a request under names, for those behind them, for formats and for
// what goes to hosts. The worker's thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::format {

class FilterState {
 public:
  // False: it is there already, and may not be changed.
  bool set(std::string_view key, std::string_view value, bool is_read_only) {
    for (Entry& entry : entries_) {
      if (entry.key != key) continue;
      if (entry.is_read_only) return false;
      entry.value = value;
      entry.is_read_only = is_read_only;
      return true;
    }
    entries_.push_back({std::string(key), std::string(value), is_read_only});
    return true;
  }
  // Null: there is none.
  const std::string* find(std::string_view key) const {
    for (const Entry& entry : entries_) {
      if (entry.key == key) return &entry.value;
    }
    return nullptr;
  }

 private:
  struct Entry {
    std::string key;
    std::string value;
    bool is_read_only;
  };

  std::vector<Entry> entries_;
};

}  // namespace fairlead::format
