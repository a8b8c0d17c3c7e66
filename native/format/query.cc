#include "format/query.h"

#include "format/url_text.h"

namespace fairlead::format {

namespace {

std::string_view decoded(std::string_view text, std::string* room) {
  if (text.find('%') == std::string_view::npos) return text;
  room->clear();
  appendUrlDecoded(text, room);
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

}  // namespace fairlead::format
