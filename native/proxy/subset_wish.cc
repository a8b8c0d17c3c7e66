#include "proxy/subset_wish.h"

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/json_tree.h"
#include "format/passed_metadata.h"

namespace fairlead::proxy {

namespace {

constexpr std::string_view kSubsetSpace = "envoy.lb";

// By key.
using Labels = std::map<std::string, std::string, std::less<>>;

void addLabels(std::span<const format::SetMetadata> metadata, Labels* labels) {
  for (const format::SetMetadata& set : metadata) {
    if (set.space != kSubsetSpace) continue;
    Arena arena(1024);
    const format::FilterMetadata::Value* const all = set.metadata->find({});
    const JsonNode* const object =
        all ? parseJson(all->text, arena, JsonRepeats::LastWins) : nullptr;
    for (const JsonNode* at = object ? object->first : nullptr; at; at = at->next) {
      std::string label(at->key);
      appendJson(&label.append("="), *at);
      labels->insert_or_assign(std::string(at->key), std::move(label));
    }
  }
}

void addLabels(const net::Findings& findings, Labels* labels) {
  if (findings.passed_metadata) addLabels(findings.passed_metadata->all(), labels);
  const auto space = findings.metadata.find(kSubsetSpace);
  if (space == findings.metadata.end()) return;
  for (const auto& [key, value] : space->second) {
    std::string label = key + "=";
    appendJsonString(&label, value);
    labels->insert_or_assign(key, std::move(label));
  }
}

}  // namespace

std::optional<plan::SubsetCriteria> subsetOf(const plan::SubsetCriteria* configured,
                                             const net::Findings* findings,
                                             std::span<const format::SetMetadata> request) {
  Labels labels;
  if (findings) addLabels(*findings, &labels);
  addLabels(request, &labels);
  if (labels.empty()) return std::nullopt;
  if (configured) {
    for (const std::string& label : configured->labels()) {
      labels.emplace(plan::keyOfLabel(label), label);
    }
  }
  std::vector<std::string> sorted;
  for (auto& [_, label] : labels) sorted.push_back(std::move(label));
  return plan::SubsetCriteria(std::move(sorted));
}

}  // namespace fairlead::proxy
