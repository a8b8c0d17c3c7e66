#include "http/query.h"

#include <algorithm>

#include "base/hex.h"

namespace fairlead::http {

namespace {

bool isUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~").find(c) != std::string_view::npos;
}

std::string_view decodedIn(std::string_view text, std::string* room) {
  if (text.find('%') == std::string_view::npos) return text;
  room->clear();
  appendPercentDecoded(text, room);
  return *room;
}

}  // namespace

void appendPercentDecoded(std::string_view text, std::string* out) {
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hexValue(text[i + 1]) : -1;
    const int low = high >= 0 ? hexValue(text[i + 2]) : -1;
    if (low < 0) {
      out->push_back(text[i]);
      continue;
    }
    out->push_back(static_cast<char>(high << 4 | low));
    i += 2;
  }
}

std::string percentDecoded(std::string_view text) {
  std::string decoded;
  appendPercentDecoded(text, &decoded);
  return decoded;
}

std::string percentEncoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (isUnreserved(c)) {
      encoded.push_back(c);
      continue;
    }
    appendUpperHex(&encoded.append(1, '%'), c);
  }
  return encoded;
}

std::optional<std::string_view> queryParameter(std::string_view query, std::string_view name,
                                               std::string* room) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const size_t equals = pair.find('=');
    if (decodedIn(pair.substr(0, equals), room) != name) continue;
    return equals == std::string_view::npos ? std::string_view()
                                            : decodedIn(pair.substr(equals + 1), room);
  }
  return std::nullopt;
}

Query Query::of(std::string_view path, Decoding decoding) {
  Query query;
  const size_t mark = path.find('?');
  if (mark == std::string_view::npos) return query;
  std::string_view rest = path.substr(mark + 1);
  rest = rest.substr(0, rest.find('#'));
  const auto decoded = [decoding](std::string_view text) {
    return decoding == Decoding::Percent ? percentDecoded(text) : std::string(text);
  };
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const size_t equals = std::min(pair.find('='), pair.size());
    query.parameters_.emplace_back(decoded(pair.substr(0, equals)),
                                   decoded(pair.substr(std::min(equals + 1, pair.size()))));
  }
  std::ranges::stable_sort(query.parameters_, {}, &std::pair<std::string, std::string>::first);
  return query;
}

std::optional<std::string_view> Query::find(std::string_view name) const {
  for (const auto& [each, value] : parameters_) {
    if (each == name) return value;
  }
  return std::nullopt;
}

void Query::remove(std::string_view name) {
  std::erase_if(parameters_, [&](const auto& one) { return one.first == name; });
}

std::string Query::without(std::string_view path, std::string_view name) {
  Query query = of(path, Decoding::None);
  std::erase_if(query.parameters_,
                [&](const auto& one) { return percentDecoded(one.first) == name; });
  return std::string(path.substr(0, path.find('?'))) + query.text();
}

void Query::overwrite(std::string_view name, std::string_view value) {
  remove(name);
  add(name, value);
}

void Query::add(std::string_view name, std::string_view value) {
  const auto at = std::ranges::upper_bound(
      parameters_, name, {}, [](const auto& one) { return std::string_view(one.first); });
  parameters_.emplace(at, name, value);
}

std::string Query::text() const {
  std::string text;
  char before = '?';
  for (const auto& [name, value] : parameters_) {
    text.push_back(std::exchange(before, '&'));
    text.append(name).append("=").append(value);
  }
  return text;
}

}  // namespace fairlead::http
