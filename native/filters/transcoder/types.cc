#include "filters/transcoder/types.h"

#include <algorithm>
#include <utility>

#include "filters/transcoder/utf8.h"

namespace fairlead::transcoder {

namespace {

constexpr std::string_view kUrlPrefix = "type.googleapis.com/";

KnownType knownTypeOf(std::string_view name) {
  constexpr std::string_view kPackage = "google.protobuf.";
  if (!name.starts_with(kPackage)) return KnownType::None;
  name.remove_prefix(kPackage.size());
  static constexpr std::pair<std::string_view, KnownType> kTypes[] = {
      {"Any", KnownType::Any},
      {"Duration", KnownType::Duration},
      {"FieldMask", KnownType::FieldMask},
      {"ListValue", KnownType::ListValue},
      {"Struct", KnownType::Struct},
      {"Timestamp", KnownType::Timestamp},
      {"Value", KnownType::Value},
      {"DoubleValue", KnownType::Wrapper},
      {"FloatValue", KnownType::Wrapper},
      {"Int64Value", KnownType::Wrapper},
      {"UInt64Value", KnownType::Wrapper},
      {"Int32Value", KnownType::Wrapper},
      {"UInt32Value", KnownType::Wrapper},
      {"BoolValue", KnownType::Wrapper},
      {"StringValue", KnownType::Wrapper},
      {"BytesValue", KnownType::Wrapper},
  };
  for (const auto& [known, type] : kTypes) {
    if (known == name) return type;
  }
  return KnownType::None;
}

// What a form in JSON needs of its message: the fields that it speaks of, with their kinds.
bool hasFields(const MessageType& type, std::initializer_list<std::pair<uint32_t, Kind>> expected) {
  return std::all_of(expected.begin(), expected.end(), [&](const auto& field) {
    const Field* const found = type.find(field.first);
    return found && found->kind == field.second;
  });
}

// A message of that name which is another one has no form of its own.
bool isWellFormed(const MessageType& type) {
  switch (type.known) {
    case KnownType::Any:
      return hasFields(type, {{1, Kind::String}, {2, Kind::Bytes}}) && type.find("type_url") &&
             type.find("value");
    case KnownType::Duration:
    case KnownType::Timestamp:
      return hasFields(type, {{1, Kind::Int64}, {2, Kind::Int32}}) && type.find("seconds") &&
             type.find("nanos");
    case KnownType::FieldMask:
      return hasFields(type, {{1, Kind::String}}) && type.find(1)->is_repeated &&
             type.find("paths");
    case KnownType::Struct:
      return hasFields(type, {{1, Kind::Message}}) && type.find(1)->isMap() && type.find("fields");
    case KnownType::ListValue:
      return hasFields(type, {{1, Kind::Message}}) && type.find(1)->is_repeated &&
             type.find("values");
    case KnownType::Value:
      return hasFields(type, {{1, Kind::Enum},
                              {2, Kind::Double},
                              {3, Kind::String},
                              {4, Kind::Bool},
                              {5, Kind::Message},
                              {6, Kind::Message}}) &&
             type.find(5)->message->known == KnownType::Struct &&
             type.find(6)->message->known == KnownType::ListValue;
    case KnownType::Wrapper:
      return type.find(1) && type.find("value") && !type.find(1)->isMessage() &&
             !type.find(1)->is_repeated;
    case KnownType::None:
      return true;
  }
  return true;
}

// Names that begin with an upper case letter stay as they are.
std::string_view printedName(const plan::ProtoField& field) {
  const auto isUpper = [](std::string_view name) {
    return !name.empty() && name[0] >= 'A' && name[0] <= 'Z';
  };
  return isUpper(field.name) && !isUpper(field.json_name) ? field.name : field.json_name;
}

std::string printed(std::string_view name) {
  std::string result;
  appendJsonString(&result, name);
  result.push_back(':');
  return result;
}

bool isMapEntry(const MessageType& type) {
  const Field* const key = type.find(1);
  const Field* const value = type.find(2);
  return key && value && type.find("key") == key && type.find("value") == value &&
         !key->isMessage() && !key->is_repeated && !value->is_repeated;
}

}  // namespace

std::string_view kindName(Kind kind) {
  static constexpr std::string_view kNames[] = {
      "TYPE_UNKNOWN",  "TYPE_DOUBLE",   "TYPE_FLOAT",   "TYPE_INT64",  "TYPE_UINT64",
      "TYPE_INT32",    "TYPE_FIXED64",  "TYPE_FIXED32", "TYPE_BOOL",   "TYPE_STRING",
      "TYPE_GROUP",    "TYPE_MESSAGE",  "TYPE_BYTES",   "TYPE_UINT32", "TYPE_ENUM",
      "TYPE_SFIXED32", "TYPE_SFIXED64", "TYPE_SINT32",  "TYPE_SINT64"};
  return kNames[static_cast<size_t>(kind)];
}

const EnumValue* EnumType::find(std::string_view value_name) const {
  for (const EnumValue& value : values) {
    if (value.name == value_name) return &value;
  }
  return nullptr;
}

const EnumValue* EnumType::find(int32_t number) const {
  for (const EnumValue& value : values) {
    if (value.number == number) return &value;
  }
  return nullptr;
}

bool Field::isMap() const { return is_repeated && message && message->is_map_entry; }

std::string Field::typeUrl() const {
  if (message) return std::string(kUrlPrefix) + message->name;
  if (enumeration) return std::string(kUrlPrefix) + enumeration->name;
  return {};
}

const Field* MessageType::find(std::string_view field_name) const {
  const auto found = by_name_.find(field_name);
  return found == by_name_.end() ? nullptr : found->second;
}

const Field* MessageType::find(uint32_t number) const {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : found->second;
}

Result<std::unique_ptr<const TypeTable>> TypeTable::build(
    const std::vector<plan::ProtoMessage>& messages, const std::vector<plan::ProtoEnum>& enums) {
  auto table = std::make_unique<TypeTable>();
  table->messages_.resize(messages.size());
  table->enums_.reserve(enums.size());
  for (const plan::ProtoEnum& one : enums) {
    EnumType type{one.name, {}, one.name == "google.protobuf.NullValue"};
    for (const plan::ProtoEnumValue& value : one.values) {
      type.values.push_back({value.name, static_cast<int32_t>(value.number)});
    }
    table->enums_.push_back(std::move(type));
  }
  for (size_t i = 0; i < messages.size(); ++i) {
    MessageType& type = table->messages_[i];
    type.name = messages[i].name;
    type.oneofs = messages[i].oneofs;
    type.is_map_entry = messages[i].is_map_entry;
    type.is_proto3 = messages[i].is_proto3;
    type.known = knownTypeOf(type.name);
    type.fields.reserve(messages[i].fields.size());
    for (const plan::ProtoField& from : messages[i].fields) {
      Field field;
      field.name = from.name;
      field.json_name = from.json_name;
      field.printed_name = printed(printedName(from));
      field.printed_own_name = printed(from.name);
      field.number = from.number;
      field.is_repeated = from.repeated;
      field.is_required = from.required;
      field.has_presence = from.has_presence;
      field.oneof = from.oneof;
      if (from.kind < 1 || from.kind > 18 || from.oneof > type.oneofs.size()) {
        return Error{"a field of a kind that is not known here: " + type.name + "." + from.name};
      }
      field.kind = static_cast<Kind>(from.kind);
      const bool is_enum = field.kind == Kind::Enum;
      if (field.isMessage() || is_enum) {
        if (from.type >= (is_enum ? table->enums_.size() : table->messages_.size())) {
          return Error{"a field without its type: " + type.name + "." + from.name};
        }
        if (is_enum) field.enumeration = &table->enums_[from.type];
        if (!is_enum) field.message = &table->messages_[from.type];
      }
      type.fields.push_back(std::move(field));
    }
    for (const Field& field : type.fields) {
      // Where a name is one's in JSON and another's in the descriptor, it is the former's.
      type.by_name_[field.json_name] = &field;
      type.by_number_.emplace(field.number, &field);
      type.by_number.push_back(&field);
    }
    std::sort(type.by_number.begin(), type.by_number.end(),
              [](const Field* a, const Field* b) { return a->number < b->number; });
    for (const Field& field : type.fields) type.by_name_.emplace(field.name, &field);
    table->by_name_.emplace(type.name, &type);
  }
  // Values speak of structs and lists, which have been looked at by then.
  for (const bool values : {false, true}) {
    for (MessageType& type : table->messages_) {
      if ((type.known == KnownType::Value) == values && !isWellFormed(type)) {
        type.known = KnownType::None;
      }
    }
  }
  for (const MessageType& type : table->messages_) {
    if (type.is_map_entry && !isMapEntry(type)) {
      return Error{"a map without key or value: " + type.name};
    }
  }
  return std::unique_ptr<const TypeTable>(std::move(table));
}

const MessageType* TypeTable::resolve(std::string_view url, std::string* error) const {
  const size_t slash = url.rfind('/');
  if (slash == std::string_view::npos || url.substr(0, slash + 1) != kUrlPrefix) {
    *error =
        "Invalid type URL, type URLs must be of the form 'type.googleapis.com/<typename>', got: ";
    error->append(url);
    return nullptr;
  }
  const std::string_view name = url.substr(kUrlPrefix.size());
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) return found->second;
  *error = "Invalid type URL, unknown type: ";
  error->append(name);
  return nullptr;
}

}  // namespace fairlead::transcoder
