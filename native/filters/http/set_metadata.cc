#include "filters/http/set_metadata.h"

#include "filters/http/metadata_value.h"
#include "filters/http/request_metadata.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

// Objects are merged, lists joined; of all else what comes later counts.
const JsonNode* merged(const JsonNode& before, const JsonNode& with, Arena& arena) {
  const auto copyOf = [&](const JsonNode& one) {
    JsonNode* const copy = makeJsonNode(arena, one.kind);
    *copy = one;
    copy->next = nullptr;
    return copy;
  };
  if (before.kind != with.kind || (!with.isObject() && !with.isArray())) return copyOf(with);
  JsonNode* const made = copyOf(with);
  const JsonNode** link = &made->first;
  const auto add = [&](JsonNode* node) {
    *link = node;
    link = &node->next;
  };
  for (const JsonNode* at = before.first; at; at = at->next) {
    const JsonNode* const other = with.isObject() ? with.find(at->key) : nullptr;
    JsonNode* const part = other ? copyOf(*merged(*at, *other, arena)) : copyOf(*at);
    part->key = at->key;
    add(part);
  }
  for (const JsonNode* at = with.first; at; at = at->next) {
    if (with.isObject() && before.find(at->key)) continue;
    add(copyOf(*at));
  }
  return made;
}

// Of one request.
class SetMetadata final : public HttpFilter {
 public:
  SetMetadata(const SetMetadataConfig& config, FilterMemory& memory, const FilterScope& scope,
              FilterPlace& place)
      : config_(config), memory_(memory), scope_(scope), place_(place) {}

  FilterStatus onRequestHead(http::RequestHead&, const route::RequestView&, bool) override {
    set(config_.own());
    const route::FilterConfigList by_route = place_.routeConfigs();
    const MetadataEntries* const more =
        by_route.empty() ? nullptr : MetadataEntries::of(by_route.front());
    if (more) set(*more);
    return FilterStatus::Continue;
  }

 private:
  void set(const MetadataEntries& said) {
    for (const plan::SetMetadataEntry& entry : said.entries) {
      if (entry.typed) {
        setTyped(entry);
        continue;
      }
      const JsonNode* value = parseJson(entry.value, memory_.arena(), JsonRepeats::LastWins);
      if (!value) continue;
      const format::FilterMetadata* const before =
          RequestMetadata::latest(scope_.notes, entry.space);
      if (before && !entry.overwrites) {
        config_.countDenied(scope_.worker);
        continue;
      }
      if (const auto* all = before ? before->find({}) : nullptr) {
        const JsonNode* const old = parseJson(all->text, memory_.arena(), JsonRepeats::LastWins);
        if (old) value = merged(*old, *value, memory_.arena());
      }
      metadata_.set(scope_.notes, entry.space, *value);
    }
  }

  void setTyped(const plan::SetMetadataEntry& entry) {
    for (const plan::TypedMetadata*& set : scope_.notes.typed_metadata) {
      if (set->name != entry.space) continue;
      if (entry.overwrites) {
        set = entry.typed.get();
      } else {
        config_.countDenied(scope_.worker);
      }
      return;
    }
    scope_.notes.typed_metadata.push_back(entry.typed.get());
  }

  const SetMetadataConfig& config_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  FilterPlace& place_;
  RequestMetadata metadata_;
};

}  // namespace

SetMetadataConfig::SetMetadataConfig(const plan::SetMetadata& plan, const ConfigScope& scope)
    : own_(plan),
      stats_(
          scope.registry.create<stats::HttpSetMetadata>(innerScope(scope.stats, "set_metadata."))) {
}

HttpFilter* SetMetadataConfig::make(FilterMemory& memory, const FilterScope& scope,
                                    FilterPlace& place) const {
  return memory.make<SetMetadata>(*this, memory, scope, place);
}

}  // namespace fairlead::filters
