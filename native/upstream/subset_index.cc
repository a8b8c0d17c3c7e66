#include "upstream/subset_index.h"

#include <algorithm>

#include "upstream/hash_tables.h"

namespace fairlead::upstream {

namespace {

bool isOfKey(std::string_view label, std::string_view key) {
  return plan::keyOfLabel(label) == key;
}

// What a host has of a key: nothing, its value, or the values of its list.
std::vector<std::string_view> labelsOf(const Host& host, std::string_view key, bool list_as_any) {
  const plan::Host& settings = host.settings();
  std::vector<std::string_view> found;
  if (!list_as_any) {
    for (const std::string& label : settings.list_labels) {
      if (isOfKey(label, key)) return {label};
    }
  }
  for (const std::string& label : settings.labels) {
    if (isOfKey(label, key)) found.push_back(label);
  }
  return found;
}

bool hasLabel(const Host& host, const std::string& wanted, bool list_as_any) {
  const auto labels = labelsOf(host, plan::keyOfLabel(wanted), list_as_any);
  return std::find(labels.begin(), labels.end(), wanted) != labels.end();
}

// Whether any request may fall back to the default subset.
bool hasDefaults(const plan::Subsets& subsets) {
  if (subsets.fallback == plan::Subsets::Fallback::Default) return true;
  return std::any_of(subsets.selectors.begin(), subsets.selectors.end(), [](const auto& selector) {
    return selector.fallback == plan::SubsetSelector::Fallback::Default;
  });
}

HostSet::Hosts defaultsOf(const plan::Subsets& subsets, const HostSet& all) {
  HostSet::Hosts defaults;
  for (const std::shared_ptr<Host>& host : all.hosts()) {
    const auto& labels = subsets.default_labels;
    const bool has_all = std::all_of(labels.begin(), labels.end(), [&](const std::string& label) {
      return hasLabel(*host, label, subsets.list_as_any);
    });
    if (has_all) defaults.push_back(host);
  }
  return defaults;
}

}  // namespace

SubsetIndex::SubsetIndex(const plan::Cluster& settings, const HostSet& all,
                         const HostSetRules& rules)
    : settings_(settings) {
  const plan::Subsets& subsets = *settings.subsets;
  std::map<std::string, Hosts> groups;
  std::map<std::string, Host*> singles;
  for (const plan::SubsetSelector& selector : subsets.selectors) {
    std::string keys;
    for (const std::string& key : selector.keys) keys.append(key).push_back('\0');
    selectors_.emplace(keys, &selector);
    std::map<std::string, Hosts> own;
    for (const std::shared_ptr<Host>& host : all.hosts()) place(selector, host, &own);
    for (auto& [text, hosts] : own) {
      if (selector.has_single_host) {
        duplicates_ += hosts.size() - 1;
        subsets_[text].single = hosts[0].get();
      } else {
        groups[text] = std::move(hosts);
      }
    }
  }
  if (hasDefaults(subsets)) defaults_.hosts = makeSet(defaultsOf(subsets, all), all, rules);
  for (auto& [text, hosts] : groups) subsets_[text].hosts = makeSet(std::move(hosts), all, rules);
}

// A host whose keys have several values is in the subsets of all their combinations.
void SubsetIndex::place(const plan::SubsetSelector& selector, const std::shared_ptr<Host>& host,
                        std::map<std::string, Hosts>* groups) {
  std::vector<std::string> texts = {""};
  for (const std::string& key : selector.keys) {
    const auto labels = labelsOf(*host, key, settings_.subsets->list_as_any);
    std::vector<std::string> longer;
    for (const std::string& text : texts) {
      for (const std::string_view label : labels) {
        longer.emplace_back(text).append(label).push_back('\0');
      }
    }
    texts = std::move(longer);
  }
  for (const std::string& text : texts) {
    Hosts& hosts = (*groups)[text];
    // A list may have a value twice.
    if (hosts.empty() || hosts.back() != host) hosts.push_back(host);
  }
}

std::unique_ptr<const HostSet> SubsetIndex::makeSet(Hosts hosts, const HostSet& all,
                                                    const HostSetRules& rules) {
  auto set = std::make_unique<HostSet>(std::move(hosts), all.settings(), rules,
                                       settings_.subsets->scales_weights ? &all : nullptr);
  const HashTable::Figures figures = buildHashTables(settings_, set.get());
  if (figures.size > 0) figures_ = figures;
  return set;
}

size_t SubsetIndex::countMissingIn(const SubsetIndex* other) const {
  if (!other) return size();
  return static_cast<size_t>(
      std::count_if(subsets_.begin(), subsets_.end(),
                    [other](const auto& entry) { return !other->subsets_.contains(entry.first); }));
}

}  // namespace fairlead::upstream
