// The messages and enums that a transcoder knows, as its descriptors have them. Immutable; all
// workers read it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "plan/plan.gen.h"

namespace fairlead::transcoder {

// FieldDescriptorProto.Type.
enum class Kind : uint8_t {
  Double = 1,
  Float,
  Int64,
  UInt64,
  Int32,
  Fixed64,
  Fixed32,
  Bool,
  String,
  Group,
  Message,
  Bytes,
  UInt32,
  Enum,
  SFixed32,
  SFixed64,
  SInt32,
  SInt64,
};
// "TYPE_INT32"
std::string_view kindName(Kind kind);

// Messages that have a form of their own in JSON.
enum class KnownType : uint8_t {
  None,
  Any,
  Duration,
  FieldMask,
  ListValue,
  Struct,
  Timestamp,
  Value,
  // Int32Value and its like: a message of one field.
  Wrapper,
};

struct MessageType;

struct EnumValue {
  std::string name;
  int32_t number;
};

struct EnumType {
  // With its package, as of messages.
  std::string name;
  std::vector<EnumValue> values;
  // google.protobuf.NullValue: null in JSON.
  bool is_null = false;

  // Null: it has none of these.
  const EnumValue* find(std::string_view value_name) const;
  const EnumValue* find(int32_t number) const;
};

struct Field {
  std::string name;
  std::string json_name;
  // As JSON that is written has it, with quotes and colon: in JSON's spelling, and in its own.
  std::string printed_name;
  std::string printed_own_name;
  uint32_t number = 0;
  Kind kind = Kind::Int32;
  bool is_repeated = false;
  bool is_required = false;
  // It is not printed where it is not there.
  bool has_presence = false;
  // From 1; 0: it is in none.
  uint32_t oneof = 0;
  // Of messages and groups.
  const MessageType* message = nullptr;
  const EnumType* enumeration = nullptr;

  bool isMessage() const { return kind == Kind::Message || kind == Kind::Group; }
  bool isMap() const;
  // "type.googleapis.com/…" of what it holds; empty: it holds a scalar.
  std::string typeUrl() const;
};

struct MessageType {
  std::string name;
  // In the order of the descriptor.
  std::vector<Field> fields;
  std::vector<std::string> oneofs;
  bool is_map_entry = false;
  bool is_proto3 = false;
  KnownType known = KnownType::None;

  // In the order of their numbers.
  std::vector<const Field*> by_number;

  // By its name in JSON or in the descriptor. Null: it has none.
  const Field* find(std::string_view field_name) const;
  const Field* find(uint32_t number) const;

 private:
  friend class TypeTable;
  std::unordered_map<std::string_view, const Field*> by_name_;
  std::unordered_map<uint32_t, const Field*> by_number_;
};

class TypeTable {
 public:
  static Result<std::unique_ptr<const TypeTable>> build(
      const std::vector<plan::ProtoMessage>& messages, const std::vector<plan::ProtoEnum>& enums);

  // Null: there is no such place.
  const MessageType* at(uint32_t place) const {
    return place < messages_.size() ? &messages_[place] : nullptr;
  }
  // Of "type.googleapis.com/NAME". Null: `error` says why there is none.
  const MessageType* resolve(std::string_view url, std::string* error) const;

 private:
  std::vector<MessageType> messages_;
  std::vector<EnumType> enums_;
  std::unordered_map<std::string_view, const MessageType*> by_name_;
};

}  // namespace fairlead::transcoder
