#include "filters/transcoder/message_writer.h"

#include <algorithm>
#include <utility>

#include "filters/transcoder/any_writer.h"
#include "filters/transcoder/known_values.h"
#include "filters/transcoder/wire.h"

namespace fairlead::transcoder {

namespace {

KnownType knownOf(const Field& field) {
  return field.message ? field.message->known : KnownType::None;
}

// A scalar is written for it, as it has no fields in JSON.
bool takesScalar(KnownType known) {
  switch (known) {
    case KnownType::Duration:
    case KnownType::FieldMask:
    case KnownType::Timestamp:
    case KnownType::Value:
    case KnownType::Wrapper:
      return true;
    default:
      return false;
  }
}

bool isNullEnum(const Field& field) { return field.enumeration && field.enumeration->is_null; }

}  // namespace

MessageWriter::MessageWriter(const TypeTable& types, const MessageType& type,
                             bool ignores_enum_case, std::string& error)
    : types_(types), type_(type), ignores_enum_case_(ignores_enum_case), error_(error) {}

MessageWriter::~MessageWriter() = default;

// ---- objects ----

void MessageWriter::beginObject(std::string_view name) {
  if (left_out_ > 0) {
    ++left_out_;
    return;
  }
  if (levels_.empty()) {
    if (!name.empty()) refuseName("Root element should not be named.");
    begin(type_);
    if (type_.known == KnownType::ListValue) {
      refuseValue(type_.name, "Cannot start root message with ListValue.");
    }
    pushKnownObject(type_);
    return;
  }
  if (top().holds == Holds::Any) return top().any->beginObject(name);
  if (top().holds == Holds::MapEntries) {
    if (!beginEntry(name)) {
      ++left_out_;
      return;
    }
    const Field& value = *top().type->find("value");
    push("value", knownOf(value) == KnownType::Any ? Holds::Any : Holds::Fields, true, false);
    if (!value.message) {
      refuseValue("value", "Starting an object on a scalar field");
    } else if (left_out_ == 0) {
      pushKnownObject(*value.message);
    }
    return;
  }
  const Field* const field = lookUp(name);
  if (!field) {
    ++left_out_;
  } else if (field->isMap()) {
    push(name, Holds::MapEntries, false, true);
  } else if (!field->message) {
    ++left_out_;
    refuseValue(field->name, "Starting an object on a scalar field");
  } else {
    push(name, knownOf(*field) == KnownType::Any ? Holds::Any : Holds::Fields, false, false);
    if (left_out_ == 0) pushKnownObject(*field->message);
  }
}

bool MessageWriter::pushKnownObject(const MessageType& type) {
  if (type.known == KnownType::Value) push("struct_value", Holds::Fields, true, false);
  if (type.known != KnownType::Value && type.known != KnownType::Struct) return false;
  if (left_out_ == 0) push("fields", Holds::MapEntries, true, true);
  return true;
}

void MessageWriter::endObject() {
  if (left_out_ > 0) {
    --left_out_;
    return;
  }
  if (levels_.empty()) return;
  if (top().holds == Holds::Any && top().any->endObject()) return;
  pop();
}

// ---- lists ----

void MessageWriter::beginList(std::string_view name) {
  if (left_out_ > 0) {
    ++left_out_;
    return;
  }
  if (levels_.empty()) {
    if (type_.known != KnownType::Value && type_.known != KnownType::ListValue) {
      ++left_out_;
      refuseName("Root element must be a message.");
      return;
    }
    begin(type_);
    pushList();
    return;
  }
  if (top().holds == Holds::Any) return top().any->beginList(name);
  if (top().holds == Holds::MapEntries) {
    if (!beginEntry(name)) {
      ++left_out_;
      return;
    }
    const KnownType known = knownOf(*top().type->find("value"));
    push("value", Holds::Fields, true, false);
    if (left_out_ > 0) return;
    if (known == KnownType::Value || known == KnownType::ListValue) return pushList();
    refuseValue("Map", "Cannot have repeated items ('" + std::string(name) + "') within a map.");
    return;
  }
  if (name.empty() && top().field) {
    const KnownType known = knownOf(*top().field);
    const bool is_list = known == KnownType::Value || known == KnownType::ListValue;
    push(name, Holds::Fields, false, !is_list);
    if (is_list && left_out_ == 0) pushList();
    return;
  }
  const Field* const field = lookUp(name);
  if (!field) {
    ++left_out_;
    return;
  }
  const KnownType known = knownOf(*field);
  if (!field->is_repeated && (known == KnownType::Value || known == KnownType::ListValue)) {
    push(name, Holds::Fields, false, false);
    if (left_out_ == 0) pushList();
  } else if (!field->is_repeated) {
    ++left_out_;
    refuseName("Proto field is not repeating, cannot start list.");
  } else if (field->isMap()) {
    ++left_out_;
    refuseValue("Map", "Cannot bind a list to map for field '" + std::string(name) + "'.");
  } else {
    push(name, Holds::Fields, false, true);
  }
}

// Of a Value or a ListValue that has begun.
void MessageWriter::pushList() {
  if (top().type->known == KnownType::Value) push("list_value", Holds::Fields, true, false);
  if (left_out_ == 0) push("values", Holds::Fields, true, true);
}

void MessageWriter::endList() {
  if (left_out_ > 0) {
    --left_out_;
    return;
  }
  if (levels_.empty()) return;
  if (top().holds == Holds::Any) return top().any->endList();
  pop();
}

// ---- scalars ----

void MessageWriter::scalar(std::string_view name, const JsonValue& value) {
  if (left_out_ > 0 || is_done_) return;
  std::string why;
  if (levels_.empty()) {
    if (!takesScalar(type_.known)) return refuseName("Root element must be a message.");
    begin(type_);
    if (!writeKnown(type_.known, value, &why)) {
      refuseValue(type_.name, "Field '" + std::string(name) + "', " + why);
    }
    return pop();
  }
  if (top().holds == Holds::Any) return top().any->scalar(name, value);
  const bool is_entry = top().holds == Holds::MapEntries;
  std::string_view field_name = name;
  if (is_entry) {
    if (!beginEntry(name)) return;
    field_name = "value";
  }
  const Field* const field = lookUp(field_name);
  if (!field) return;
  const KnownType known = knownOf(*field);
  // Null is what is not there, but where it is a value.
  const bool is_absent = value.isNull() && known != KnownType::Value && !isNullEnum(*field);
  if (takesScalar(known) && (!is_absent || is_entry)) {
    push(field_name, Holds::Fields, is_entry, false);
    if (left_out_ > 0) {
      left_out_ = 0;
      if (is_entry) pop();
      return;
    }
    if (!writeKnown(known, value, &why)) {
      refuseValue(field->typeUrl(), "Field '" + std::string(name) + "', " + why);
    }
    return pop();
  }
  if (!is_absent) writeScalar(field_name, value);
  if (is_entry) pop();
}

void MessageWriter::writeScalar(std::string_view name, const JsonValue& value) {
  const Field* const field = lookUp(name);
  if (!field || !takeOneof(*field, name)) return;
  noteField(*field);
  if (field->isMessage()) {
    refuseValue(field->typeUrl(), value.text(), field);
  } else if (!writeValue(*field, value)) {
    const std::string url = field->typeUrl();
    refuseValue(url.empty() ? kindName(field->kind) : url, value.text(), field);
  }
}

// ---- levels ----

void MessageWriter::begin(const MessageType& type) {
  addLevel(type, nullptr, type.known == KnownType::Any ? Holds::Any : Holds::Fields, false, false);
}

void MessageWriter::addLevel(const MessageType& type, const Field* field, Holds holds,
                             bool is_implied, bool is_list) {
  Level level{&type, field, holds,         is_implied,   is_list, is_list ? 0 : -1, -1,
              0,     0,     taken_.size(), seen_.size(), nullptr, nullptr};
  if (field && !is_list && field->kind == Kind::Message) {
    level.length = static_cast<int32_t>(lengths_.size());
    lengths_.push_back({bytes_.size(), 0});
  }
  level.begin = bytes_.size();
  if (holds == Holds::MapEntries) {
    level.keys = std::make_unique<std::unordered_set<std::string>>();
  }
  if (holds == Holds::Any) level.any = std::make_unique<AnyWriter>(*this);
  levels_.push_back(std::move(level));
}

void MessageWriter::push(std::string_view name, Holds holds, bool is_implied, bool is_list) {
  const Field* const field = lookUp(name);
  if (!field || (is_list && !field->is_repeated)) {
    if (field) refuseName("Proto field is not repeating, cannot start list.");
    ++left_out_;
    return;
  }
  if (!takeOneof(*field, name)) {
    ++left_out_;
    return;
  }
  if (!is_list) {
    noteField(*field);
    if (field->is_repeated && top().elements >= 0 && top().type->is_proto3) ++top().elements;
    if (field->isMessage()) appendTag(&bytes_, field->number, wireTypeOf(field->kind));
  }
  addLevel(field->message ? *field->message : *top().type, field, holds, is_implied, is_list);
}

void MessageWriter::pop() {
  while (!levels_.empty() && top().is_implied) popOne();
  if (!levels_.empty()) popOne();
}

void MessageWriter::popOne() {
  Level& level = top();
  if (!level.is_list && !level.type->is_proto3 && !(level.field && !level.field->isMessage())) {
    for (const Field& field : level.type->fields) {
      if (!field.is_required) continue;
      const auto begin = seen_.begin() + static_cast<ptrdiff_t>(level.seen);
      if (std::find(begin, seen_.end(), &field) != seen_.end()) continue;
      error_ = location() + ": missing field " + field.name;
    }
  }
  size_t more = level.more;
  if (level.length >= 0) {
    const size_t size = bytes_.size() - level.begin + level.more;
    lengths_[static_cast<size_t>(level.length)].value = size;
    more += varintBytes(size);
  }
  if (level.field && !level.is_list && level.field->kind == Kind::Group) {
    appendTag(&bytes_, level.field->number, WireType::EndGroup);
  }
  taken_.resize(level.taken);
  seen_.resize(level.seen);
  levels_.pop_back();
  if (levels_.empty()) {
    is_done_ = true;
  } else {
    top().more += more;
  }
}

void MessageWriter::appendTo(std::string* out) const {
  size_t at = 0;
  for (const Length& length : lengths_) {
    out->append(bytes_, at, length.at - at);
    appendVarint(out, length.value);
    at = length.at;
  }
  out->append(bytes_, at);
}

// ---- names ----

const Field* MessageWriter::lookUp(std::string_view name) {
  if (!name.empty()) return top().type->find(name);
  // Elements of a list are of its field.
  const Field* const field = top().field;
  if (field && field->is_repeated) return field;
  refuseName("Proto fields must have a name.");
  return nullptr;
}

bool MessageWriter::takeOneof(const Field& field, std::string_view name) {
  if (field.oneof == 0) return true;
  const auto begin = taken_.begin() + static_cast<ptrdiff_t>(top().taken);
  if (std::find(begin, taken_.end(), field.oneof) == taken_.end()) {
    taken_.push_back(field.oneof);
    return true;
  }
  refuseValue("oneof", "oneof field '" + top().type->oneofs[field.oneof - 1] +
                           "' is already set. Cannot set '" + std::string(name) + "'");
  return false;
}

void MessageWriter::noteField(const Field& field) {
  if (field.is_required) seen_.push_back(&field);
  if (field.is_repeated && !top().type->is_proto3 && top().elements >= 0) ++top().elements;
}

bool MessageWriter::takeKey(std::string_view name) {
  if (top().keys->insert(std::string(name)).second) return true;
  refuseName("Repeated map key: '" + std::string(name) + "' is already set.");
  return false;
}

bool MessageWriter::beginEntry(std::string_view name) {
  if (!takeKey(name)) return false;
  push({}, Holds::Fields, false, false);
  writeScalar("key", JsonValue::of(name));
  return true;
}

// ---- what is wrong ----

std::string MessageWriter::location(const Field* field) {
  std::string path;
  const auto add = [&path](const Field& one, const Field* above, int32_t elements) {
    if (!one.is_repeated || above != &one) {
      if (!path.empty()) path.push_back('.');
      path.append(one.name);
    }
    if (one.is_repeated && elements > 0) path.append("[" + std::to_string(elements - 1) + "]");
  };
  if (field && field->is_repeated && top().elements >= 0 && top().type->is_proto3) {
    ++top().elements;
  }
  for (size_t i = 1; i < levels_.size(); ++i) {
    add(*levels_[i].field, levels_[i - 1].field, levels_[i].elements);
  }
  if (field) add(*field, top().field, -1);
  return path;
}

void MessageWriter::refuseName(std::string_view why) {
  error_ = location();
  error_.append(": ").append(why);
}

void MessageWriter::refuseValue(std::string_view type, std::string_view why, const Field* field) {
  error_ = location(field);
  error_.append(": invalid value ").append(why).append(" for type ").append(type);
}

}  // namespace fairlead::transcoder
