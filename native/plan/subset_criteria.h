// Which hosts of a cluster a request may go to, as its route says it. Immutable.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.gen.h"

namespace fairlead::plan {

// "key=value"
inline std::string_view keyOfLabel(std::string_view label) {
  return label.substr(0, label.find('='));
}

class SubsetCriteria {
 public:
  SubsetCriteria() = default;
  // Labels sorted by key.
  explicit SubsetCriteria(std::vector<std::string> labels) : labels_(std::move(labels)) {
    for (const std::string& label : labels_) {
      text_.append(label).push_back('\0');
      keys_.append(keyOfLabel(label)).push_back('\0');
    }
  }
  explicit SubsetCriteria(const MetadataMatch& plan) : SubsetCriteria(plan.labels) {
    for (const HostLabels& other : plan.fallbacks) fallbacks_.emplace_back(other.labels);
  }

  bool empty() const { return labels_.empty(); }
  const std::vector<std::string>& labels() const { return labels_; }
  // What is asked for as a whole, and by which keys: what subsets and selectors are found by.
  const std::string& text() const { return text_; }
  const std::string& keys() const { return keys_; }
  // What else will do, one after the other.
  const std::vector<SubsetCriteria>& fallbacks() const { return fallbacks_; }
  // Of these keys alone.
  SubsetCriteria filtered(const std::vector<std::string>& keys) const {
    std::vector<std::string> labels;
    std::copy_if(labels_.begin(), labels_.end(), std::back_inserter(labels),
                 [&](const auto& label) {
                   return std::find(keys.begin(), keys.end(), keyOfLabel(label)) != keys.end();
                 });
    return SubsetCriteria(std::move(labels));
  }

 private:
  std::vector<std::string> labels_;
  std::string text_;
  std::string keys_;
  std::vector<SubsetCriteria> fallbacks_;
};

}  // namespace fairlead::plan
