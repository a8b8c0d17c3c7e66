#include "http/kept_names.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace fairlead::http {

namespace {

// More of them are in lower case.
constexpr size_t kMaxNames = 1100;
constexpr size_t kMostBegunBytes = 256;

}  // namespace

void KeptNames::collect(std::string_view head) {
  // Its first line has no name.
  size_t at = head.find('\n');
  while (at != std::string_view::npos && at + 1 < head.size() && names_.size() < kMaxNames) {
    const std::string_view line = head.substr(at + 1);
    const size_t end = line.find('\n');
    const size_t colon = line.find(':');
    if (line[0] == '\r' || line[0] == '\n') return;
    if (colon != std::string_view::npos && colon < end) {
      const std::string_view name = line.substr(0, colon);
      if (!find(name)) add(name);
    } else if (end == std::string_view::npos && begun_.empty()) {
      begun_ = line.substr(0, kMostBegunBytes);
    }
    if (end == std::string_view::npos) return;
    at += 1 + end;
  }
}

void KeptNames::add(std::string_view name) {
  std::string& kept = names_.emplace_back(name);
  const std::string_view start = name.substr(0, begun_.size());
  if (begun_.empty() || start.size() < begun_.size() || !equalsIgnoreCase(start, begun_)) return;
  kept.replace(0, begun_.size(), begun_);
  begun_.clear();
}

const std::string* KeptNames::find(std::string_view name) const {
  const auto found = std::find_if(names_.begin(), names_.end(), [name](const std::string& one) {
    return one.size() == name.size() && equalsIgnoreCase(one, name);
  });
  return found == names_.end() ? nullptr : &*found;
}

void KeptNames::restore(char* name, size_t size) const {
  if (const std::string* const kept = find({name, size})) {
    std::memcpy(name, kept->data(), size);
  } else if (capitalizes_others_) {
    capitalizeWords(name, size);
  }
}

void capitalizeWords(char* name, size_t size) {
  bool start = true;
  for (size_t i = 0; i < size; ++i) {
    if (start && name[i] >= 'a' && name[i] <= 'z') name[i] = static_cast<char>(name[i] - 32);
    start = name[i] == '-';
  }
}

}  // namespace fairlead::http
