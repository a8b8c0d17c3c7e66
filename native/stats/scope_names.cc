#include "stats/scope_names.h"

#include <utility>

namespace fairlead::stats {

std::string sanitized(std::string_view name) {
  std::string result;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '\0') {
      result.push_back('_');
    } else if (name[i] == ':') {
      result.push_back('_');
      // "://" and ":/" become one.
      if (name.substr(i + 1, 2) == "//") {
        i += 2;
      } else if (name.substr(i + 1, 1) == "/") {
        i += 1;
      }
    } else {
      result.push_back(name[i]);
    }
  }
  return result;
}

Token splitAt(std::string name, size_t dot) {
  if (dot >= name.size()) return {name, name, ""};
  return {name, name.substr(0, dot), name.substr(dot + 1) + "."};
}

std::string trimmed(std::string name) {
  while (name.ends_with('.')) name.pop_back();
  return name;
}

Token tokenOf(std::string_view raw) {
  std::string name = trimmed(sanitized(raw));
  return splitAt(name, name.find('.'));
}

Scope namedScope(const std::string& stem, const char* label, const Token& token) {
  if (token.name.empty()) return {stem, stem, {}, {}};
  return {stem + token.name + ".", stem + token.rest, {}, {{label, token.label}}};
}

}  // namespace fairlead::stats
