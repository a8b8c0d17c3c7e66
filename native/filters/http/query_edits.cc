#include "filters/http/query_edits.h"

#include <algorithm>

namespace fairlead::filters {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

std::vector<Pair> pairsOf(std::string_view query) {
  std::vector<Pair> all;
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), one.size() + 1));
    const size_t equals = std::min(one.find('='), one.size());
    all.emplace_back(one.substr(0, equals), one.substr(std::min(equals + 1, one.size())));
  }
  return all;
}

}  // namespace

// The real server gives parameters on in the order of their names.
std::string_view editQuery(std::string_view path,
                           const std::vector<std::pair<std::string, std::string>>& set,
                           const std::vector<std::string>& remove, Arena& arena) {
  const size_t mark = std::min(path.find('?'), path.size());
  std::vector<Pair> parameters = pairsOf(path.substr(std::min(mark + 1, path.size())));
  const auto drop = [&parameters](std::string_view name) {
    std::erase_if(parameters, [name](const Pair& one) { return one.first == name; });
  };
  // Neither a line nor a word of one ends with what a service says.
  const auto mayBeSent = [](std::string_view text) {
    return std::ranges::none_of(text, [](char c) {
      const auto byte = static_cast<uint8_t>(c);
      return byte <= ' ' || byte == 0x7f;
    });
  };
  for (const auto& [name, value] : set) {
    if (!mayBeSent(name) || !mayBeSent(value)) continue;
    drop(name);
    parameters.emplace_back(name, value);
  }
  for (const std::string& name : remove) drop(name);
  std::ranges::stable_sort(parameters, {}, &Pair::first);
  std::string made(path.substr(0, mark));
  char before = '?';
  for (const auto& [name, value] : parameters) {
    made.push_back(std::exchange(before, '&'));
    made.append(name).append("=").append(value);
  }
  return arena.copy(made);
}

bool isQueryText(std::string_view text) {
  constexpr std::string_view kPlain = "-._~";
  const auto isHex = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_letter =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (is_letter || kPlain.find(c) != std::string_view::npos) continue;
    if (c != '%' || i + 2 >= text.size() || !isHex(text[i + 1]) || !isHex(text[i + 2])) {
      return false;
    }
    i += 2;
  }
  return true;
}

}  // namespace fairlead::filters
