#include "http/target.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace fairlead::http {

namespace {

constexpr std::string_view kCodecError = "http1.codec_error";
constexpr std::string_view kInvalidUrl = "http1.invalid_url";
constexpr std::string_view kInvalidScheme = "http1.invalid_scheme";
constexpr std::string_view kTwoHosts = "http1.multiple_host_headers";

using ByteSet = std::array<bool, 256>;

constexpr ByteSet lettersDigitsAnd(std::string_view others) {
  ByteSet set = {};
  for (int c = '0'; c <= '9'; ++c) set[static_cast<size_t>(c)] = true;
  for (int c = 'a'; c <= 'z'; ++c) set[static_cast<size_t>(c)] = true;
  for (int c = 'A'; c <= 'Z'; ++c) set[static_cast<size_t>(c)] = true;
  for (const char c : others) set[static_cast<size_t>(c)] = true;
  return set;
}

constexpr ByteSet kAuthority = lettersDigitsAnd("-._~!$&'()*+,;=:%[]");
constexpr ByteSet kScheme = lettersDigitsAnd("+-.");
// A name that is resolved: no underscore, no escapes.
constexpr ByteSet kHostName = lettersDigitsAnd("-.");
constexpr ByteSet kUserInformation = lettersDigitsAnd("-._~!$&'()*+,;=:%");

bool isMadeOf(std::string_view text, const ByteSet& set) {
  // Without a branch for each byte: nearly every text is.
  bool all = true;
  for (char c : text) all &= set[static_cast<uint8_t>(c)];
  return all;
}

bool isLetter(char c) { return lowerAscii(c) >= 'a' && lowerAscii(c) <= 'z'; }

bool isAddressByte(char c) {
  return (c >= '0' && c <= '9') || (lowerAscii(c) >= 'a' && lowerAscii(c) <= 'f') || c == ':' ||
         c == '.';
}

bool isPort(std::string_view text) {
  uint64_t port = 0;
  return parseDecimal(text, &port) && port <= UINT16_MAX;
}

// "host", "host:port", "[address]", "[address]:port".
enum class Port : unsigned char { Optional, Required };
bool isHostAndPort(std::string_view text, Port port) {
  size_t host_end;
  if (text.starts_with('[')) {
    const size_t bracket = text.find(']');
    if (bracket == std::string_view::npos || bracket == 1) return false;
    const std::string_view address = text.substr(1, bracket - 1);
    if (!std::all_of(address.begin(), address.end(), isAddressByte)) return false;
    host_end = bracket + 1;
  } else {
    host_end = std::min(text.find(':'), text.size());
    if (host_end == 0 || !isMadeOf(text.substr(0, host_end), kHostName)) return false;
  }
  if (host_end == text.size()) return port == Port::Optional;
  return text[host_end] == ':' && isPort(text.substr(host_end + 1));
}

// "scheme://[user@]host[:port][/path][?query]"
std::string_view parseAbsolute(std::string_view target, Target* out) {
  const size_t colon = std::min(target.find(':'), target.size());
  out->scheme = target.substr(0, colon);
  if (!isLetter(target[0]) || !isMadeOf(out->scheme, kScheme) ||
      !target.substr(colon).starts_with("://")) {
    return kCodecError;
  }
  const std::string_view rest = target.substr(colon + 3);
  const size_t path = std::min(rest.find_first_of("/?"), rest.size());
  std::string_view authority = rest.substr(0, path);
  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
    if (!isMadeOf(authority.substr(0, at), kUserInformation)) return kCodecError;
    authority.remove_prefix(at + 1);
  }
  if (!isMadeOf(authority, kAuthority)) return kCodecError;
  if (!isHostAndPort(authority, Port::Optional)) return kInvalidUrl;
  if (!equalsIgnoreCase(out->scheme, "http") && !equalsIgnoreCase(out->scheme, "https")) {
    return kInvalidScheme;
  }
  out->form = Target::Form::Absolute;
  out->authority = authority;
  out->path = path == rest.size() ? "/" : rest.substr(path);
  return {};
}

}  // namespace

bool isValidAuthority(std::string_view authority) { return isMadeOf(authority, kAuthority); }

std::string_view takeAuthority(const Target& target, RequestHead& head) {
  const HeaderEntry* host = nullptr;
  std::string_view named;
  for (HeaderEntry& entry : head.headers) {
    if (entry.id != HeaderId::Host) continue;
    if (host && target.form != Target::Form::Absolute) return kTwoHosts;
    host = &entry;
    named = entry.value();
    entry.remove();
  }
  const bool is_in_target =
      target.form == Target::Form::Absolute || target.form == Target::Form::Authority;
  head.path = target.path;
  head.authority = is_in_target ? target.authority : named;
  // That of a target is valid, or would be none; then nobody looks at what the headers say.
  if (target.form == Target::Form::Absolute) return {};
  return isValidAuthority(named) ? std::string_view() : kInvalidAuthorityDetails;
}

std::string_view parseTarget(std::string_view method, std::string_view target, Target* out,
                             bool takes_absolute) {
  *out = {};
  if (method == "CONNECT") {
    if (!isHostAndPort(target, Port::Required)) return kInvalidUrl;
    out->form = Target::Form::Authority;
    out->authority = target;
    return {};
  }
  if (target[0] == '/') {
    out->path = target;
    return {};
  }
  if (target[0] == '*') {
    if (method != "OPTIONS" && takes_absolute) return kInvalidUrl;
    out->form = Target::Form::Asterisk;
    out->path = target;
    return {};
  }
  const std::string_view details = parseAbsolute(target, out);
  if (takes_absolute || details == kCodecError) return details;
  *out = {};
  out->path = target;
  return {};
}

}  // namespace fairlead::http
