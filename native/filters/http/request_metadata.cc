#include "filters/http/request_metadata.h"

#include <utility>
#include <vector>

namespace fairlead::filters {

namespace {

void appendValues(const JsonNode& node, const std::string& path,
                  std::vector<plan::MetadataValue>* out) {
  plan::MetadataValue& value = out->emplace_back();
  value.path = path;
  value.is_json = !node.isString();
  if (node.isString()) {
    value.text = node.text;
  } else {
    appendJson(&value.text, node);
  }
  if (!node.isObject()) return;
  for (const JsonNode* at = node.first; at; at = at->next) {
    std::string inner = path;
    if (!path.empty()) inner.push_back('\0');
    appendValues(*at, inner.append(at->key), out);
  }
}

}  // namespace

format::FilterMetadata asMetadata(const JsonNode& object) {
  std::vector<plan::MetadataValue> values;
  appendValues(object, {}, &values);
  return format::FilterMetadata(values);
}

const format::FilterMetadata* RequestMetadata::latest(const FilterNotes& notes,
                                                      std::string_view space) {
  for (size_t i = notes.metadata.size(); i > 0; --i) {
    if (notes.metadata[i - 1].space == space) return notes.metadata[i - 1].metadata;
  }
  return nullptr;
}

void RequestMetadata::set(FilterNotes& notes, std::string_view space, const JsonNode& object) {
  Arena arena(1024);
  // Those that are new come behind, and so win.
  std::deque<JsonNode> members;
  const auto add = [&](const JsonNode* from) {
    for (const JsonNode* at = from ? from->first : nullptr; at; at = at->next) {
      members.push_back(*at);
    }
  };
  const format::FilterMetadata* before = latest(notes, space);
  const format::FilterMetadata::Value* all = before ? before->find({}) : nullptr;
  if (all) add(parseJson(all->text, arena, JsonRepeats::LastWins));
  std::erase_if(members, [&](const JsonNode& one) { return object.find(one.key) != nullptr; });
  add(&object);
  JsonNode merged;
  merged.kind = JsonNode::Kind::Object;
  for (size_t i = 0; i < members.size(); ++i) {
    members[i].next = i + 1 < members.size() ? &members[i + 1] : nullptr;
  }
  if (!members.empty()) merged.first = &members.front();
  Kept& kept = kept_.emplace_back(Kept{std::string(space), asMetadata(merged)});
  notes.metadata.push_back({kept.space, &kept.metadata});
}

void RequestMetadata::set(FilterNotes& notes, std::string_view space, std::string_view key,
                          const JsonNode& value) {
  JsonNode member = value;
  member.key = key;
  member.next = nullptr;
  JsonNode object;
  object.kind = JsonNode::Kind::Object;
  object.first = &member;
  set(notes, space, object);
}

}  // namespace fairlead::filters
