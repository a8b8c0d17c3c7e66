// Operators that speak of metadata: what filters have set, and what configurations say.
#include <map>
#include <utility>

#include "base/proto_json.h"
#include "format/connection_values.h"
#include "format/piece.h"
#include "net/state_value.h"

namespace fairlead::format {

namespace {

// What is null is there, and has no value.
constexpr std::string_view kNull = "null";

using Members = std::map<std::string_view, std::string_view>;

// Takes the members of a JSON object that this process has written, as they stand in it.
void takeMembers(std::string_view object, Members* members) {
  size_t depth = 0;
  bool in_text = false;
  size_t begin = 1;
  size_t colon = 0;
  for (size_t i = 0; i < object.size(); ++i) {
    const char c = object[i];
    if (in_text) {
      if (c == '\\') ++i;
      in_text = c != '"';
      continue;
    }
    const bool is_last = c == '}' && depth == 1;
    if (depth == 1 && c == ':' && colon == 0) colon = i;
    if ((is_last || (c == ',' && depth == 1)) && colon > 0) {
      (*members)[object.substr(begin, colon - begin)] = object.substr(colon + 1, i - colon - 1);
      begin = i + 1;
      colon = 0;
    }
    in_text = c == '"';
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
  }
}

// All that several filters have set of one space, as one object. False: not more than one of them
// has set any.
bool appendMerged(const FormatContext& context, std::string_view space, std::string* out) {
  Members members;
  size_t sets = 0;
  for (const SetMetadata& set : context.filter_metadata) {
    const FilterMetadata::Value* const whole =
        set.space == space ? set.metadata->find({}) : nullptr;
    if (!whole || !whole->text.starts_with('{')) continue;
    ++sets;
    takeMembers(whole->text, &members);
  }
  if (sets < 2) return false;
  char before = '{';
  for (const auto& [name, value] : members) {
    out->push_back(std::exchange(before, ','));
    out->append(name).append(1, ':').append(value);
  }
  out->push_back('}');
  return true;
}

}  // namespace

// Null: no HTTP filter has set any.
const FilterMetadata::Value* Piece::filterMetadata(const FormatContext& context) const {
  for (size_t i = context.filter_metadata.size(); i > 0; --i) {
    const SetMetadata& set = context.filter_metadata[i - 1];
    if (set.space != argument_) continue;
    if (const FilterMetadata::Value* value = set.metadata->find(key_)) return value;
  }
  return nullptr;
}

const plan::MetadataValue* Piece::configured(const FormatContext& context) const {
  const auto* spaces = context.configured_metadata[static_cast<size_t>(metadata_source_)];
  if (!spaces) return nullptr;
  for (const plan::MetadataSpace& space : *spaces) {
    if (space.name != argument_) continue;
    for (const plan::MetadataValue& value : space.values) {
      if (value.path == key_) return &value;
    }
  }
  return nullptr;
}

bool Piece::appendMetadata(const FormatContext& context, std::string* out) const {
  if (kind_ == Kind::Configured) {
    const plan::MetadataValue* value = configured(context);
    if (!value || (value->is_json && value->text == kNull)) return false;
    out->append(value->text);
    return true;
  }
  if (key_.empty() && appendMerged(context, argument_, out)) return true;
  if (const FilterMetadata::Value* value = filterMetadata(context)) {
    if (value->is_json && value->text == kNull) return false;
    out->append(value->text);
    return true;
  }
  return appendConnectionValue(valuesOf(context.metadata, argument_), key_, out);
}

// ---- the filter state ----

const net::StateObject* Piece::stateObject(const FormatContext& context) const {
  return context.filter_state ? context.filter_state->findObject(argument_) : nullptr;
}

bool Piece::appendFilterState(const FormatContext& context, std::string* out) const {
  const bool is_field = key_.starts_with(kStateField);
  if (const net::StateObject* const object = stateObject(context)) {
    if (is_field) {
      return object->appendField(std::string_view(key_).substr(kStateField.size()), out);
    }
    return key_.empty() ? object->appendText(out) : object->appendJson(out);
  }
  using Form = net::FilterState::Form;
  auto form = Form::Quoted;
  const std::string* state =
      context.filter_state ? context.filter_state->find(argument_, &form) : nullptr;
  if (!state && context.connection_state) state = context.connection_state->find(argument_, &form);
  if (!state) return false;
  if (is_field) {
    const std::string_view field = std::string_view(key_).substr(kStateField.size());
    return form == Form::Address && net::appendAddressField(*state, field, out);
  }
  if (key_.empty() || form == Form::Bare) {
    out->append(*state);
  } else if (form == Form::Quoted || form == Form::Digits) {
    appendProtoJsonString(out, *state);
  } else {
    return false;
  }
  return true;
}

}  // namespace fairlead::format
