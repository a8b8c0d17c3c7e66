#include "http/target.h"

#include <array>

#include "base/text.h"

namespace fairlead::http {

namespace {

constexpr std::array<bool, 256> makeAuthorityTable() {
  std::array<bool, 256> table = {};
  for (int c = '0'; c <= '9'; ++c) table[static_cast<size_t>(c)] = true;
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<size_t>(c)] = true;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<size_t>(c)] = true;
  for (const char c : {'-', '.', '_', '~', '!', '$', '&', '\'', '(', ')', '*', '+', ',', ';', '=',
                       ':', '%', '@', '[', ']'}) {
    table[static_cast<size_t>(c)] = true;
  }
  return table;
}
constexpr std::array<bool, 256> kAuthority = makeAuthorityTable();

bool isPort(std::string_view text) {
  uint64_t port;
  return text.size() <= 5 && parseDecimal(text, &port);
}

bool parseAbsolute(std::string_view target, Target* out) {
  const size_t colon = target.find("://");
  if (colon == std::string_view::npos) return false;
  out->scheme = target.substr(0, colon);
  if (!equalsIgnoreCase(out->scheme, "http") && !equalsIgnoreCase(out->scheme, "https")) {
    return false;
  }
  const std::string_view rest = target.substr(colon + 3);
  const size_t path = rest.find_first_of("/?#");
  out->authority = rest.substr(0, path);
  out->path = path == std::string_view::npos ? "/" : rest.substr(path);
  out->form = Target::Form::Absolute;
  return !out->authority.empty() && isValidAuthority(out->authority);
}

}  // namespace

bool isValidAuthority(std::string_view authority) {
  for (const char c : authority) {
    if (!kAuthority[static_cast<uint8_t>(c)]) return false;
  }
  return true;
}

bool parseTarget(std::string_view method, std::string_view target, Target* out) {
  *out = {};
  if (method == "CONNECT") {
    const size_t colon = target.rfind(':');
    if (colon == std::string_view::npos || colon == 0 || !isPort(target.substr(colon + 1))) {
      return false;
    }
    out->form = Target::Form::Authority;
    out->authority = target;
    return isValidAuthority(target);
  }
  if (target[0] == '/') {
    out->path = target;
    return true;
  }
  if (target == "*") {
    out->form = Target::Form::Asterisk;
    out->path = target;
    return method == "OPTIONS";
  }
  return parseAbsolute(target, out);
}

}  // namespace fairlead::http
