#include "filters/http/ext_proc_json.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "base/base64.h"
#include "base/json.h"
#include "base/json_tree.h"
#include "base/proto_reader.h"
#include "base/proto_writer.h"
#include "base/text.h"
#include "filters/http/ext_proc_messages.h"
#include "format/struct_metadata.h"

namespace fairlead::filters {

namespace processor_json {

namespace {

// ---- printing ----

void printMessage(std::span<const Part> parts, std::string_view message, std::string* out);

void printValue(const Part& part, const ProtoReader& value, std::string* out) {
  switch (part.kind) {
    case PartKind::Message:
      return printMessage(part.parts, value.bytes(), out);
    case PartKind::Text:
      return appendJsonString(out, value.bytes());
    case PartKind::Bytes:
      out->append("\"").append(encodeBase64(value.bytes())).append("\"");
      return;
    case PartKind::Flag:
      out->append(value.flag() ? "true" : "false");
      return;
    case PartKind::Enum:
      for (const PartName& name : part.names) {
        if (name.number == value.number()) appendJsonString(out, name.name);
      }
      return;
    case PartKind::Struct: {
      std::vector<plan::MetadataValue> values;
      const bool is_there = format::readStruct(value.bytes(), &values) && !values.empty();
      out->append(is_there ? std::string_view(values[0].text) : std::string_view("{}"));
      return;
    }
    case PartKind::Number:
    case PartKind::Duration:
    case PartKind::FlagBox:
      return;
  }
}

void printMap(const Part& part, std::string_view message, std::string* out) {
  out->push_back('{');
  bool is_first = true;
  for (ProtoReader reader(message); reader.next();) {
    if (reader.field() != part.number) continue;
    if (!std::exchange(is_first, false)) out->push_back(',');
    std::string_view key;
    std::string value = "{}";
    for (ProtoReader entry(reader.bytes()); entry.next();) {
      if (entry.field() == 1) key = entry.bytes();
      if (entry.field() != 2) continue;
      value.clear();
      printValue(part, entry, &value);
    }
    appendJsonString(out, key);
    out->append(":").append(value);
  }
  out->push_back('}');
}

void printMessage(std::span<const Part> parts, std::string_view message, std::string* out) {
  out->push_back('{');
  bool is_first = true;
  for (const Part& part : parts) {
    size_t count = 0;
    for (ProtoReader reader(message); reader.next();) {
      if (reader.field() != part.number) continue;
      if (count++ == 0) {
        if (!std::exchange(is_first, false)) out->push_back(',');
        appendJsonString(out, part.name);
        out->push_back(':');
        if (part.is_map) {
          printMap(part, message, out);
          break;
        }
        if (part.is_repeated) out->push_back('[');
      } else {
        out->push_back(',');
      }
      printValue(part, reader, out);
    }
    if (part.is_repeated && count > 0) out->push_back(']');
  }
  out->push_back('}');
}

// ---- reading ----

bool readMessage(std::span<const Part> parts, const JsonNode& node, ProtoWriter* out);

// "lowerCamelCase", of the same words.
bool isCamelOf(std::string_view camel, std::string_view snake) {
  size_t at = 0;
  bool is_upper = false;
  for (const char c : snake) {
    if (c == '_') {
      is_upper = true;
      continue;
    }
    const char wanted = is_upper ? static_cast<char>(c - 'a' + 'A') : c;
    if (at == camel.size() || camel[at++] != wanted) return false;
    is_upper = false;
  }
  return at == camel.size();
}

const Part* partOf(std::span<const Part> parts, std::string_view name) {
  for (const Part& part : parts) {
    if (part.name == name || isCamelOf(name, part.name)) return &part;
  }
  return nullptr;
}

bool readWhole(const JsonNode& node, uint64_t* out) {
  if (!node.isNumber() && !node.isString()) return false;
  const char* const end = node.text.data() + node.text.size();
  const auto [at, error] = std::from_chars(node.text.data(), end, *out);
  return error == std::errc() && at == end;
}

bool readEnum(const Part& part, const JsonNode& node, uint64_t* out) {
  if (node.isNumber()) return readWhole(node, out);
  if (!node.isString()) return false;
  for (const PartName& name : part.names) {
    if (!equalsIgnoreCase(name.name, node.text)) continue;
    *out = name.number;
    return true;
  }
  return false;
}

// Of either alphabet, with or without padding.
bool readBase64(std::string_view text, std::string* out) {
  std::string plain(text);
  for (char& c : plain) {
    if (c == '+') c = '-';
    if (c == '/') c = '_';
  }
  return decodeBase64Url(plain, out);
}

// "1.5s"
bool readDuration(std::string_view text, ProtoWriter* out) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  if (!text.ends_with('s')) return false;
  text.remove_suffix(1);
  const size_t point = std::min(text.find('.'), text.size());
  std::string nanos_text(text.substr(std::min(point + 1, text.size())));
  if (nanos_text.size() > 9 || (point < text.size() && nanos_text.empty())) return false;
  nanos_text.resize(9, '0');
  const auto number = [](std::string_view digits, int64_t* value) {
    const auto [at, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *value);
    return error == std::errc() && at == digits.data() + digits.size() && *value >= 0;
  };
  int64_t seconds = 0;
  int64_t nanos = 0;
  if (!number(text.substr(0, point), &seconds) || !number(nanos_text, &nanos)) return false;
  const int64_t sign = is_negative ? -1 : 1;
  out->number(1, static_cast<uint64_t>(sign * seconds));
  out->number(2, static_cast<uint64_t>(sign * nanos));
  return true;
}

bool readValue(const Part& part, const JsonNode& node, ProtoWriter* out) {
  uint64_t number = 0;
  switch (part.kind) {
    case PartKind::Message: {
      ProtoWriter inner;
      if (!readMessage(part.parts, node, &inner)) return false;
      out->bytes(part.number, inner.view());
      return true;
    }
    case PartKind::Text:
      if (!node.isString()) return false;
      out->bytes(part.number, node.text);
      return true;
    case PartKind::Bytes: {
      std::string bytes;
      if (!node.isString() || !readBase64(node.text, &bytes)) return false;
      out->bytes(part.number, bytes);
      return true;
    }
    case PartKind::Flag:
      if (!node.isBool()) return false;
      out->number(part.number, node.kind == JsonNode::Kind::True ? 1 : 0);
      return true;
    case PartKind::FlagBox: {
      if (!node.isBool()) return false;
      ProtoWriter box;
      box.number(1, node.kind == JsonNode::Kind::True ? 1 : 0);
      out->bytes(part.number, box.view());
      return true;
    }
    case PartKind::Number:
      if (!readWhole(node, &number)) return false;
      out->number(part.number, number);
      return true;
    case PartKind::Enum:
      if (!readEnum(part, node, &number)) return false;
      out->number(part.number, number);
      return true;
    case PartKind::Struct: {
      std::string json;
      appendJson(&json, node);
      ProtoWriter inner;
      if (!node.isObject() || !format::writeStruct(std::string_view(json), &inner)) return false;
      out->bytes(part.number, inner.view());
      return true;
    }
    case PartKind::Duration: {
      ProtoWriter inner;
      if (!node.isString() || !readDuration(node.text, &inner)) return false;
      out->bytes(part.number, inner.view());
      return true;
    }
  }
  return false;
}

bool readMessage(std::span<const Part> parts, const JsonNode& node, ProtoWriter* out) {
  if (!node.isObject()) return false;
  for (const JsonNode* member = node.first; member; member = member->next) {
    const Part* const part = partOf(parts, member->key);
    if (!part) return false;
    if (member->kind == JsonNode::Kind::Null) continue;
    if (!part->is_repeated) {
      if (!readValue(*part, *member, out)) return false;
      continue;
    }
    if (!member->isArray()) return false;
    for (const JsonNode* one = member->first; one; one = one->next) {
      if (!readValue(*part, *one, out)) return false;
    }
  }
  return true;
}

}  // namespace

}  // namespace processor_json

std::string processingRequestAsJson(std::string_view message) {
  std::string json;
  processor_json::printMessage(processor_json::kRequest, message, &json);
  return json;
}

bool processingResponseOfJson(std::string_view json, std::string* message) {
  Arena arena(1024);
  const JsonNode* const root = parseJson(json, arena, JsonRepeats::Refused);
  ProtoWriter out;
  if (!root || !processor_json::readMessage(processor_json::kResponse, *root, &out)) return false;
  *message = out.take();
  return true;
}

}  // namespace fairlead::filters
