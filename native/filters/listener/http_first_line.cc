#include "filters/listener/http_first_line.h"

#include <algorithm>

#include "http/byte_scan.h"

namespace fairlead::filters {

namespace {

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

bool isAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isOneOf(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }

bool isPathChar(char c) { return c >= '!' && c <= '~'; }
bool isSchemeChar(char c) { return isAlpha(c) || isDigit(c) || isOneOf("+-.", c); }
bool isHostChar(char c) { return isAlpha(c) || isDigit(c) || isOneOf("!$%&'()*+,-.:;=@[]_~", c); }

template <typename Test>
bool all(std::string_view text, Test test) {
  return std::all_of(text.begin(), text.end(), test);
}

bool isTarget(std::string_view target, bool is_connect) {
  if (target.empty()) return false;
  if (target[0] == '/' || target[0] == '*') return all(target, isPathChar);
  if (!is_connect) {
    const size_t colon = target.find("://");
    if (colon == std::string_view::npos || !isAlpha(target[0])) return false;
    if (!all(target.substr(0, colon), isSchemeChar)) return false;
    target.remove_prefix(colon + 3);
  }
  const size_t path = std::min(target.find_first_of("/?"), target.size());
  return all(target.substr(0, path), isHostChar) && all(target.substr(path), isPathChar);
}

bool isVersion(std::string_view text) {
  return text.size() == 8 && text.starts_with("HTTP/") && isDigit(text[5]) && text[6] == '.' &&
         isDigit(text[7]);
}

// Whatever is no visible character parts words here.
std::string_view takeWord(std::string_view* line) {
  const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  const auto end = std::find_if(line->begin(), line->end(), is_blank);
  const auto next = std::find_if_not(end, line->end(), is_blank);
  const std::string_view word = line->substr(0, static_cast<size_t>(end - line->begin()));
  line->remove_prefix(static_cast<size_t>(next - line->begin()));
  return word;
}

FirstLine readRequestLine(std::string_view line) {
  const std::string_view method = takeWord(&line);
  const std::string_view target = takeWord(&line);
  const std::string_view version = takeWord(&line);
  const bool is_good = !method.empty() && all(method, http::isTokenByte) && line.empty() &&
                       isTarget(target, method == "CONNECT") &&
                       (version.empty() || isVersion(version));
  if (!is_good) return FirstLine::NotHttp;
  return version == "HTTP/1.1" ? FirstLine::Http11 : FirstLine::Http10;
}

}  // namespace

FirstLine readFirstLine(std::string_view bytes) {
  if (bytes.empty()) return FirstLine::Unfinished;
  const size_t common = std::min(bytes.size(), kPreface.size());
  if (bytes.substr(0, common) == kPreface.substr(0, common)) {
    return common == kPreface.size() ? FirstLine::Http2 : FirstLine::Unfinished;
  }
  if (!http::isTokenByte(bytes[0])) return FirstLine::NotHttp;
  const size_t end = bytes.find_first_of("\r\n");
  if (end == std::string_view::npos) return FirstLine::Unfinished;
  return readRequestLine(bytes.substr(0, end));
}

}  // namespace fairlead::filters
