#include "route/query.h"

namespace fairlead::route {

namespace {

int hexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// What is no %XX stays.
std::string_view decoded(std::string_view text, std::string* room) {
  if (text.find('%') == std::string_view::npos) return text;
  room->clear();
  for (size_t i = 0; i < text.size(); ++i) {
    const bool may_be_coded = text[i] == '%' && i + 2 < text.size();
    const int high = may_be_coded ? hexDigit(text[i + 1]) : -1;
    const int low = may_be_coded ? hexDigit(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      room->push_back(text[i]);
      continue;
    }
    room->push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return *room;
}

}  // namespace

std::optional<std::string_view> queryParameter(std::string_view query, std::string_view name,
                                               std::string* room) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(pair.size() == query.size() ? pair.size() : pair.size() + 1);
    const size_t equals = pair.find('=');
    if (decoded(pair.substr(0, equals), room) != name) continue;
    return equals == std::string_view::npos ? std::string_view()
                                            : decoded(pair.substr(equals + 1), room);
  }
  return std::nullopt;
}

}  // namespace fairlead::route
