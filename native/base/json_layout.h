// Compact JSON, laid out for people as the admin pages are: one blank per level. Pure.
#pragma once

#include <string>
#include <string_view>

namespace fairlead {

// Takes one text in pieces that may end anywhere. The text must be JSON without blanks between its
// tokens. Brackets in strings are escaped: the result is then safe inside of HTML.
class JsonLayout {
 public:
  void append(std::string* out, std::string_view compact) {
    for (const char c : compact) {
      if (in_string_) {
        appendInString(out, c);
      } else {
        appendToken(out, c);
      }
    }
  }

 private:
  void appendInString(std::string* out, char c) {
    if (c == '<' || c == '>') {
      out->append(c == '<' ? "\\u003c" : "\\u003e");
      return;
    }
    out->push_back(c);
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
    }
  }

  void appendToken(std::string* out, char c) {
    const bool closes = c == '}' || c == ']';
    if (closes) --depth_;
    // What is empty stays on its line.
    if (closes ? !just_opened_ : just_opened_) newLine(out);
    just_opened_ = c == '{' || c == '[';
    out->push_back(c);
    if (just_opened_) ++depth_;
    if (c == ',') newLine(out);
    if (c == ':') out->push_back(' ');
    if (c == '"') in_string_ = true;
  }

  void newLine(std::string* out) const { out->append(1, '\n').append(depth_, ' '); }

  size_t depth_ = 0;
  bool just_opened_ = false;
  bool in_string_ = false;
  bool escaped_ = false;
};

}  // namespace fairlead
