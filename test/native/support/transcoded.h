// A message with fields of many kinds, as descriptors of protoc would make it known.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "filters/transcoder/types.h"

namespace fairlead::test {

inline plan::ProtoField protoField(std::string name, uint32_t number, transcoder::Kind kind,
                                   uint32_t type = 0, bool repeated = false, uint32_t oneof = 0) {
  plan::ProtoField field;
  field.json_name = name;
  field.name = std::move(name);
  field.number = number;
  field.kind = static_cast<uint32_t>(kind);
  field.type = type;
  field.repeated = repeated;
  field.oneof = oneof;
  field.has_presence = oneof != 0 || kind == transcoder::Kind::Message;
  return field;
}

inline plan::ProtoMessage protoMessage(std::string name, std::vector<plan::ProtoField> fields,
                                       bool is_map_entry = false) {
  plan::ProtoMessage message;
  message.name = std::move(name);
  message.fields = std::move(fields);
  message.is_map_entry = is_map_entry;
  message.is_proto3 = true;
  return message;
}

// The message "Item" is the first, "Upload" the second.
inline plan::GrpcJsonTranscoder itemService() {
  using transcoder::Kind;
  plan::GrpcJsonTranscoder plan;
  plan::ProtoMessage item = protoMessage(
      "Item",
      {protoField("id", 1, Kind::String), protoField("price", 2, Kind::Int64),
       protoField("inner", 3, Kind::Message), protoField("text", 4, Kind::String, 0, false, 1),
       protoField("number", 5, Kind::SInt32, 0, false, 1),
       protoField("parts", 6, Kind::Message, 0, true), protoField("color", 7, Kind::Enum),
       protoField("token", 8, Kind::Bytes), protoField("ratio", 9, Kind::Double),
       protoField("sizes", 10, Kind::Int32, 0, true),
       protoField("words", 11, Kind::Message, 3, true), protoField("at", 12, Kind::Message, 4),
       protoField("any", 13, Kind::Message, 5), protoField("value", 14, Kind::Message, 6),
       protoField("flag", 15, Kind::Bool), protoField("limit", 16, Kind::Message, 9),
       protoField("took", 17, Kind::Message, 10), protoField("share", 18, Kind::Float)});
  item.oneofs = {"choice"};
  plan::ProtoMessage value = protoMessage(
      "google.protobuf.Value", {protoField("null_value", 1, Kind::Enum, 1, false, 1),
                                protoField("number_value", 2, Kind::Double, 0, false, 1),
                                protoField("string_value", 3, Kind::String, 0, false, 1),
                                protoField("bool_value", 4, Kind::Bool, 0, false, 1),
                                protoField("struct_value", 5, Kind::Message, 7, false, 1),
                                protoField("list_value", 6, Kind::Message, 8, false, 1)});
  value.oneofs = {"kind"};
  plan.messages = {
      std::move(item),
      protoMessage("Upload",
                   {protoField("name", 1, Kind::String), protoField("file", 2, Kind::Message, 2)}),
      protoMessage("google.api.HttpBody", {protoField("content_type", 1, Kind::String),
                                           protoField("data", 2, Kind::Bytes)}),
      protoMessage("Item.WordsEntry",
                   {protoField("key", 1, Kind::String), protoField("value", 2, Kind::String)},
                   true),
      protoMessage("google.protobuf.Timestamp",
                   {protoField("seconds", 1, Kind::Int64), protoField("nanos", 2, Kind::Int32)}),
      protoMessage("google.protobuf.Any",
                   {protoField("type_url", 1, Kind::String), protoField("value", 2, Kind::Bytes)}),
      std::move(value),
      protoMessage("google.protobuf.Struct", {protoField("fields", 1, Kind::Message, 11, true)}),
      protoMessage("google.protobuf.ListValue", {protoField("values", 1, Kind::Message, 6, true)}),
      protoMessage("google.protobuf.Int32Value", {protoField("value", 1, Kind::Int32)}),
      protoMessage("google.protobuf.Duration",
                   {protoField("seconds", 1, Kind::Int64), protoField("nanos", 2, Kind::Int32)}),
      protoMessage("google.protobuf.Struct.FieldsEntry",
                   {protoField("key", 1, Kind::String), protoField("value", 2, Kind::Message, 6)},
                   true),
  };
  plan.enums.resize(2);
  plan.enums[0].name = "Color";
  plan.enums[0].values = {{"NONE", 0}, {"DARK_BLUE", 1}};
  plan.enums[1].name = "google.protobuf.NullValue";
  plan.enums[1].values = {{"NULL_VALUE", 0}};
  return plan;
}

inline std::unique_ptr<const transcoder::TypeTable> itemTypes() {
  const plan::GrpcJsonTranscoder plan = itemService();
  Result<std::unique_ptr<const transcoder::TypeTable>> types =
      transcoder::TypeTable::build(plan.messages, plan.enums);
  FL_CHECK(types.ok());
  return std::move(types.value());
}

}  // namespace fairlead::test
