#include "access_log/struct_writer.h"

#include <charconv>

namespace fairlead::access_log {

namespace {

// The fields of google.protobuf.Value.
constexpr uint32_t kNullValue = 1;
constexpr uint32_t kNumberValue = 2;
constexpr uint32_t kStringValue = 3;
constexpr uint32_t kBoolValue = 4;
constexpr uint32_t kStructValue = 5;
constexpr uint32_t kListValue = 6;
constexpr int kMostDepth = 64;

// Reads from the front of the text, which is JSON as JSON.stringify() writes it.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  bool take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool takeWord(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  bool takeString(std::string* out);
  bool takeNumber(double* out) {
    const auto read = std::from_chars(text_.data(), text_.data() + text_.size(), *out);
    if (read.ec != std::errc()) return false;
    text_.remove_prefix(static_cast<size_t>(read.ptr - text_.data()));
    return true;
  }
  bool isAt(char c) const { return text_.starts_with(c); }
  bool takeStruct(ProtoWriter* out, int depth);
  bool takeValue(ProtoWriter* out, int depth);

 private:
  bool takeCodeUnit(uint32_t* unit);

  std::string_view text_;
};

bool JsonCursor::takeCodeUnit(uint32_t* unit) {
  if (text_.size() < 4) return false;
  const auto read = std::from_chars(text_.data(), text_.data() + 4, *unit, 16);
  if (read.ptr != text_.data() + 4) return false;
  text_.remove_prefix(4);
  return true;
}

void appendCodePoint(uint32_t point, std::string* out) {
  const auto put = [out](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xc0 | point >> 6);
  } else if (point < 0x10000) {
    put(0xe0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3f));
  } else {
    put(0xf0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3f));
    put(0x80 | (point >> 6 & 0x3f));
  }
  put(0x80 | (point & 0x3f));
}

bool JsonCursor::takeString(std::string* out) {
  if (!take('"')) return false;
  while (!text_.empty()) {
    const char c = text_.front();
    text_.remove_prefix(1);
    if (c == '"') return true;
    if (c != '\\') {
      out->push_back(c);
      continue;
    }
    if (text_.empty()) return false;
    const char escaped = text_.front();
    text_.remove_prefix(1);
    switch (escaped) {
      case 'b':
        out->push_back('\b');
        break;
      case 'f':
        out->push_back('\f');
        break;
      case 'n':
        out->push_back('\n');
        break;
      case 'r':
        out->push_back('\r');
        break;
      case 't':
        out->push_back('\t');
        break;
      case 'u': {
        uint32_t unit = 0;
        if (!takeCodeUnit(&unit)) return false;
        uint32_t low = 0;
        if (unit >= 0xd800 && unit < 0xdc00 && takeWord("\\u") && takeCodeUnit(&low)) {
          unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        }
        appendCodePoint(unit, out);
        break;
      }
      default:
        out->push_back(escaped);
    }
  }
  return false;
}

bool JsonCursor::takeStruct(ProtoWriter* out, int depth) {
  if (depth > kMostDepth || !take('{')) return false;
  if (take('}')) return true;
  do {
    std::string key;
    ProtoWriter value;
    if (!takeString(&key) || !take(':') || !takeValue(&value, depth + 1)) return false;
    ProtoWriter entry;
    entry.bytes(1, key);
    entry.bytes(2, value.view());
    out->bytes(1, entry.view());
  } while (take(','));
  return take('}');
}

bool JsonCursor::takeValue(ProtoWriter* out, int depth) {
  if (depth > kMostDepth) return false;
  if (isAt('"')) {
    std::string text;
    if (!takeString(&text)) return false;
    out->bytes(kStringValue, text);
    return true;
  }
  if (isAt('{')) {
    ProtoWriter inner;
    if (!takeStruct(&inner, depth)) return false;
    out->bytes(kStructValue, inner.view());
    return true;
  }
  if (take('[')) {
    ProtoWriter list;
    if (!take(']')) {
      do {
        ProtoWriter item;
        if (!takeValue(&item, depth + 1)) return false;
        list.bytes(1, item.view());
      } while (take(','));
      if (!take(']')) return false;
    }
    out->bytes(kListValue, list.view());
    return true;
  }
  if (takeWord("null")) {
    out->number(kNullValue, 0);
    return true;
  }
  const bool is_true = takeWord("true");
  if (is_true || takeWord("false")) {
    out->number(kBoolValue, is_true ? 1 : 0);
    return true;
  }
  double number = 0;
  if (!takeNumber(&number)) return false;
  out->real(kNumberValue, number);
  return true;
}

}  // namespace

bool writeStruct(std::string_view json, ProtoWriter* out) {
  return JsonCursor(json).takeStruct(out, 0);
}

std::string textValue(std::string_view text) {
  ProtoWriter value;
  value.bytes(kStringValue, text);
  return value.take();
}

}  // namespace fairlead::access_log
