#include "format/struct_metadata.h"

#include <charconv>
#include <cmath>
#include <map>

#include "base/json.h"
#include "base/proto_reader.h"

namespace fairlead::format {

namespace {

constexpr int kMostDepth = 32;

// Fields of google.protobuf.Struct, its entries, Value and ListValue.
constexpr uint32_t kFields = 1;
constexpr uint32_t kKey = 1;
constexpr uint32_t kEntryValue = 2;
constexpr uint32_t kNullField = 1;
constexpr uint32_t kNumber = 2;
constexpr uint32_t kString = 3;
constexpr uint32_t kBool = 4;
constexpr uint32_t kStruct = 5;
constexpr uint32_t kList = 6;

// ---- reading ----

class StructReader {
 public:
  explicit StructReader(std::vector<plan::MetadataValue>* out) : out_(*out) {}

  // Appends the JSON; its members go to the list.
  bool object(std::string_view bytes, const std::string& path, bool is_listed, int depth,
              std::string* json) {
    if (depth > kMostDepth) return false;
    std::map<std::string_view, std::string_view> members;
    ProtoReader reader(bytes);
    while (reader.next()) {
      if (reader.field() != kFields) continue;
      std::string_view key;
      std::string_view value;
      ProtoReader entry(reader.bytes());
      while (entry.next()) {
        if (entry.field() == kKey) key = entry.bytes();
        if (entry.field() == kEntryValue) value = entry.bytes();
      }
      if (!entry.isWhole()) return false;
      members[key] = value;
    }
    if (!reader.isWhole()) return false;
    json->push_back('{');
    for (const auto& [key, value] : members) {
      if (json->back() != '{') json->push_back(',');
      appendJsonString(json, key);
      json->push_back(':');
      std::string inner = path;
      if (!path.empty()) inner.push_back('\0');
      inner.append(key);
      if (!this->value(value, inner, is_listed, depth + 1, json)) return false;
    }
    json->push_back('}');
    return true;
  }

 private:
  bool value(std::string_view bytes, const std::string& path, bool is_listed, int depth,
             std::string* json) {
    // Its place comes before that of its members.
    const size_t place = out_.size();
    if (is_listed) out_.push_back({path, {}, true});
    std::string text;
    bool is_text = false;
    std::string own = "null";
    ProtoReader reader(bytes);
    while (reader.next()) {
      is_text = false;
      switch (reader.field()) {
        case kNumber:
          own.clear();
          appendJsonNumber(&own, reader.real());
          break;
        case kString:
          is_text = true;
          text = reader.bytes();
          own.clear();
          appendJsonString(&own, text);
          break;
        case kBool:
          own = reader.flag() ? "true" : "false";
          break;
        case kStruct:
          own.clear();
          if (!object(reader.bytes(), path, is_listed, depth, &own)) return false;
          break;
        case kList:
          own.clear();
          if (!list(reader.bytes(), depth, &own)) return false;
          break;
        default:
          own = "null";
      }
    }
    if (!reader.isWhole()) return false;
    if (is_listed) {
      out_[place].text = is_text ? text : own;
      out_[place].is_json = !is_text;
    }
    json->append(own);
    return true;
  }

  bool list(std::string_view bytes, int depth, std::string* json) {
    if (depth > kMostDepth) return false;
    json->push_back('[');
    ProtoReader reader(bytes);
    while (reader.next()) {
      if (reader.field() != kFields) continue;
      if (json->back() != '[') json->push_back(',');
      if (!value(reader.bytes(), {}, false, depth + 1, json)) return false;
    }
    json->push_back(']');
    return reader.isWhole();
  }

  std::vector<plan::MetadataValue>& out_;
};

// ---- writing ----

// JSON that this process wrote itself; what is none is refused all the same.
class JsonToStruct {
 public:
  explicit JsonToStruct(std::string_view json) : rest_(json) {}

  bool object(ProtoWriter* out, int depth) {
    if (depth > kMostDepth || !take('{')) return false;
    if (take('}')) return true;
    do {
      std::string key;
      ProtoWriter value;
      ProtoWriter entry;
      skipBlanks();
      if (!string(&key) || !take(':') || !this->value(&value, depth + 1)) return false;
      entry.bytes(kKey, key);
      entry.bytes(kEntryValue, value.view());
      out->bytes(kFields, entry.view());
    } while (take(','));
    return take('}');
  }
  bool isDone() {
    skipBlanks();
    return rest_.empty();
  }

 private:
  bool value(ProtoWriter* out, int depth) {
    skipBlanks();
    if (rest_.empty() || depth > kMostDepth) return false;
    switch (rest_.front()) {
      case '{': {
        ProtoWriter inner;
        if (!object(&inner, depth)) return false;
        out->bytes(kStruct, inner.view());
        return true;
      }
      case '[': {
        ProtoWriter inner;
        if (!list(&inner, depth)) return false;
        out->bytes(kList, inner.view());
        return true;
      }
      case '"': {
        std::string text;
        if (!string(&text)) return false;
        out->bytes(kString, text);
        return true;
      }
      case 't':
        out->number(kBool, 1);
        return word("true");
      case 'f':
        out->number(kBool, 0);
        return word("false");
      case 'n':
        out->number(kNullField, 0);
        return word("null");
      default:
        return number(out);
    }
  }
  bool list(ProtoWriter* out, int depth) {
    take('[');
    if (take(']')) return true;
    do {
      ProtoWriter element;
      if (!value(&element, depth + 1)) return false;
      out->bytes(kFields, element.view());
    } while (take(','));
    return take(']');
  }
  bool number(ProtoWriter* out) {
    double value = 0;
    const auto read = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (read.ec != std::errc()) return false;
    rest_.remove_prefix(static_cast<size_t>(read.ptr - rest_.data()));
    out->real(kNumber, value);
    return true;
  }
  bool string(std::string* out) {
    if (!take('"')) return false;
    while (!rest_.empty() && rest_.front() != '"') {
      char c = rest_.front();
      rest_.remove_prefix(1);
      if (c != '\\') {
        out->push_back(c);
        continue;
      }
      if (rest_.empty()) return false;
      c = rest_.front();
      rest_.remove_prefix(1);
      if (c == 'u') {
        if (!escaped(out)) return false;
        continue;
      }
      constexpr std::string_view kNames = "bfnrt";
      constexpr std::string_view kMeant = "\b\f\n\r\t";
      const size_t at = kNames.find(c);
      out->push_back(at == std::string_view::npos ? c : kMeant[at]);
    }
    return take('"');
  }
  // Of what needs one: control characters, mostly.
  bool escaped(std::string* out) {
    unsigned code = 0;
    if (rest_.size() < 4) return false;
    const auto read = std::from_chars(rest_.data(), rest_.data() + 4, code, 16);
    if (read.ptr != rest_.data() + 4) return false;
    rest_.remove_prefix(4);
    if (code < 0x80) {
      out->push_back(static_cast<char>(code));
    } else if (code < 0x800) {
      out->push_back(static_cast<char>(0xc0 | code >> 6));
      out->push_back(static_cast<char>(0x80 | (code & 0x3f)));
    } else {
      out->push_back(static_cast<char>(0xe0 | code >> 12));
      out->push_back(static_cast<char>(0x80 | (code >> 6 & 0x3f)));
      out->push_back(static_cast<char>(0x80 | (code & 0x3f)));
    }
    return true;
  }
  bool word(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  bool take(char c) {
    if (c != '"') skipBlanks();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skipBlanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) {
      rest_.remove_prefix(1);
    }
  }

  std::string_view rest_;
};

}  // namespace

void appendJsonNumber(std::string* out, double value) {
  if (!std::isfinite(value)) {
    out->append("null");
    return;
  }
  char text[40];
  const bool is_whole = value == std::floor(value) && std::fabs(value) < 1e15;
  const auto made = is_whole ? std::to_chars(text, text + sizeof(text), static_cast<int64_t>(value))
                             : std::to_chars(text, text + sizeof(text), value);
  out->append(text, made.ptr);
}

bool readStruct(std::string_view bytes, std::vector<plan::MetadataValue>* out) {
  out->push_back({{}, {}, true});
  std::string json;
  if (!StructReader(out).object(bytes, {}, true, 0, &json)) return false;
  (*out)[0].text = std::move(json);
  return true;
}

bool writeStruct(std::string_view json, ProtoWriter* out) {
  JsonToStruct reader(json);
  return reader.object(out, 0) && reader.isDone();
}

void writeStruct(const net::Findings::Values& values, ProtoWriter* out) {
  for (const auto& [key, text] : values) {
    ProtoWriter value;
    value.bytes(kString, text);
    ProtoWriter entry;
    entry.bytes(kKey, key);
    entry.bytes(kEntryValue, value.view());
    out->bytes(kFields, entry.view());
  }
}

}  // namespace fairlead::format
