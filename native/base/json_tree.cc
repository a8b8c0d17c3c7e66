#include "base/json_tree.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/utf8.h"

namespace fairlead {

namespace {

constexpr int kMaxDepth = 100;

class TreeParser {
 public:
  TreeParser(std::string_view text, Arena& arena, JsonRepeats repeats)
      : text_(text), arena_(arena), repeats_(repeats) {}

  const JsonNode* parse() {
    JsonNode* const root = make();
    if (!value(root, 0)) return nullptr;
    skipBlanks();
    return at_ == text_.size() ? root : nullptr;
  }

 private:
  JsonNode* make() {
    char* room = arena_.allocate(sizeof(JsonNode) + alignof(JsonNode) - 1);
    const size_t off = reinterpret_cast<uintptr_t>(room) % alignof(JsonNode);
    if (off != 0) room += alignof(JsonNode) - off;
    return new (room) JsonNode();
  }
  void skipBlanks() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) && text_[at_] != '\0') ++at_;
  }
  bool take(char c) {
    skipBlanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view word, JsonNode::Kind kind, JsonNode* node) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    node->kind = kind;
    return true;
  }

  bool value(JsonNode* node, int depth) {
    if (depth > kMaxDepth) return false;
    skipBlanks();
    if (at_ == text_.size()) return false;
    switch (text_[at_]) {
      case '{':
        return object(node, depth);
      case '[':
        return array(node, depth);
      case '"':
        node->kind = JsonNode::Kind::String;
        return string(&node->text);
      case 'n':
        return word("null", JsonNode::Kind::Null, node);
      case 't':
        return word("true", JsonNode::Kind::True, node);
      case 'f':
        return word("false", JsonNode::Kind::False, node);
      default:
        return number(node);
    }
  }

  bool object(JsonNode* node, int depth) {
    node->kind = JsonNode::Kind::Object;
    ++at_;
    if (take('}')) return true;
    const JsonNode** link = &node->first;
    std::set<std::string_view> names;
    do {
      JsonNode* const member = make();
      skipBlanks();
      if (at_ == text_.size() || text_[at_] != '"' || !string(&member->key)) return false;
      if (!take(':') || !value(member, depth + 1)) return false;
      if (repeats_ == JsonRepeats::Refused && !names.insert(member->key).second) return false;
      *link = member;
      link = &member->next;
    } while (take(','));
    return take('}');
  }

  bool array(JsonNode* node, int depth) {
    node->kind = JsonNode::Kind::Array;
    ++at_;
    if (take(']')) return true;
    const JsonNode** link = &node->first;
    do {
      JsonNode* const element = make();
      if (!value(element, depth + 1)) return false;
      *link = element;
      link = &element->next;
    } while (take(','));
    return take(']');
  }

  bool digits() {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > begin;
  }

  bool number(JsonNode* node) {
    const size_t begin = at_;
    if (text_[at_] == '-') ++at_;
    const size_t first_digit = at_;
    if (!digits() || (text_[first_digit] == '0' && at_ > first_digit + 1)) return false;
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      if (!digits()) return false;
    }
    if (at_ < text_.size() && (text_[at_] | 0x20) == 'e') {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (!digits()) return false;
    }
    node->kind = JsonNode::Kind::Number;
    node->text = text_.substr(begin, at_ - begin);
    const auto [end, error] =
        std::from_chars(node->text.data(), node->text.data() + node->text.size(), node->number);
    return error == std::errc();
  }

  // Four digits of \u.
  bool unit(uint32_t* out) {
    if (text_.size() - at_ < 4) return false;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, begin + 4, *out, 16);
    at_ += 4;
    return error == std::errc() && end == begin + 4 && *begin != '-';
  }

  bool escape(char** to) {
    if (at_ == text_.size()) return false;
    const char c = text_[at_++];
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    if (const size_t found = kNames.find(c); found != std::string_view::npos) {
      *(*to)++ = kValues[found];
      return true;
    }
    uint32_t code = 0;
    if (c != 'u' || !unit(&code)) return false;
    if (code >= 0xdc00 && code < 0xe000) return false;
    if (code >= 0xd800 && code < 0xdc00) {
      uint32_t low = 0;
      if (!text_.substr(at_).starts_with("\\u")) return false;
      at_ += 2;
      if (!unit(&low) || low < 0xdc00 || low >= 0xe000) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    encode(code, to);
    return true;
  }

  static void encode(uint32_t code, char** to) {
    const auto put = [to](uint32_t byte) { *(*to)++ = static_cast<char>(byte); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
      put(0xc0 | code >> 6);
    } else {
      if (code < 0x10000) {
        put(0xe0 | code >> 12);
      } else {
        put(0xf0 | code >> 18);
        put(0x80 | (code >> 12 & 63));
      }
      put(0x80 | (code >> 6 & 63));
    }
    put(0x80 | (code & 63));
  }

  bool string(std::string_view* out) {
    const size_t begin = ++at_;
    bool is_plain = true;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (static_cast<uint8_t>(text_[at_]) < 0x20) return false;
      if (text_[at_] != '\\') continue;
      is_plain = false;
      ++at_;
    }
    if (at_ >= text_.size()) return false;
    const std::string_view raw = text_.substr(begin, at_ - begin);
    if (!isUtf8(raw)) return false;
    if (is_plain) {
      *out = raw;
      ++at_;
      return true;
    }
    // What it stands for is no longer than what it is.
    char* const made = arena_.allocate(raw.size());
    char* to = made;
    for (at_ = begin; text_[at_] != '"';) {
      const char c = text_[at_++];
      if (c != '\\') {
        *to++ = c;
      } else if (!escape(&to)) {
        return false;
      }
    }
    ++at_;
    *out = {made, static_cast<size_t>(to - made)};
    return true;
  }

  const std::string_view text_;
  Arena& arena_;
  const JsonRepeats repeats_;
  size_t at_ = 0;
};

void appendMembers(std::string* out, const JsonNode& node) {
  std::vector<const JsonNode*> members;
  for (const JsonNode* at = node.first; at; at = at->next) members.push_back(at);
  std::ranges::stable_sort(members, {}, &JsonNode::key);
  bool is_first = true;
  for (size_t i = 0; i < members.size(); ++i) {
    if (i + 1 < members.size() && members[i + 1]->key == members[i]->key) continue;
    if (!std::exchange(is_first, false)) out->push_back(',');
    appendJsonString(out, members[i]->key);
    out->push_back(':');
    appendJson(out, *members[i]);
  }
}

}  // namespace

const JsonNode* parseJson(std::string_view text, Arena& arena, JsonRepeats repeats) {
  return TreeParser(text, arena, repeats).parse();
}

void appendJson(std::string* out, const JsonNode& node) {
  switch (node.kind) {
    case JsonNode::Kind::Null:
      out->append("null");
      return;
    case JsonNode::Kind::False:
      out->append("false");
      return;
    case JsonNode::Kind::True:
      out->append("true");
      return;
    case JsonNode::Kind::Number:
      appendJsonNumber(out, node.number);
      return;
    case JsonNode::Kind::String:
      appendJsonString(out, node.text);
      return;
    case JsonNode::Kind::Array:
      out->push_back('[');
      for (const JsonNode* at = node.first; at; at = at->next) {
        appendJson(out, *at);
        if (at->next) out->push_back(',');
      }
      out->push_back(']');
      return;
    case JsonNode::Kind::Object:
      out->push_back('{');
      appendMembers(out, node);
      out->push_back('}');
      return;
  }
}

void appendJsonNumber(std::string* out, double number) {
  constexpr double kWhole = 1e15;
  char text[40];
  int size = 0;
  if (std::trunc(number) == number && std::fabs(number) < kWhole) {
    size = std::snprintf(text, sizeof(text), "%.0f", number);
  } else {
    size = std::snprintf(text, sizeof(text), "%.15g", number);
    double again = 0;
    std::from_chars(text, text + size, again);
    if (again != number) size = std::snprintf(text, sizeof(text), "%.17g", number);
  }
  out->append(text, static_cast<size_t>(size));
}

}  // namespace fairlead
