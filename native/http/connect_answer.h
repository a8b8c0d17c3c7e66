// What a proxy that is asked for a tunnel in HTTP/1 answers: where its head ends, and its status.
// Pure.
#pragma once

#include <algorithm>
#include <string_view>

namespace fairlead::http {

// Up to and with the empty line; 0: it has not come whole. `looked_at`: so many bytes were looked
// at before.
inline size_t connectHeadBytes(std::string_view bytes, size_t looked_at = 0) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  const size_t from = looked_at < kEnd.size() ? 0 : looked_at - kEnd.size();
  const size_t end = bytes.find(kEnd, std::min(from, bytes.size()));
  return end == std::string_view::npos ? 0 : end + kEnd.size();
}

// Each line after the first has a name and a colon.
inline bool areHeaderLines(std::string_view head) {
  size_t at = head.find("\r\n");
  while (at != std::string_view::npos && (at += 2) < head.size()) {
    const size_t end = head.find("\r\n", at);
    const std::string_view line = head.substr(at, end - at);
    if (line.empty()) return true;
    const size_t colon = line.find(':');
    if (colon == 0 || colon == std::string_view::npos) return false;
    if (line.substr(0, colon).find_first_of(" \t") != std::string_view::npos) return false;
    at = end;
  }
  return true;
}

// Of a head that begins with "HTTP/1.1 200 OK"; 0: it is none.
inline unsigned connectStatus(std::string_view head) {
  if (!head.starts_with("HTTP/1.") || head.size() < 12 || head[8] != ' ') return 0;
  if (!areHeaderLines(head)) return 0;
  unsigned status = 0;
  for (const char c : head.substr(9, 3)) {
    if (c < '0' || c > '9') return 0;
    status = status * 10 + static_cast<unsigned>(c - '0');
  }
  return status;
}

// It says that another answer follows.
inline bool isInterim(unsigned status) { return status >= 100 && status < 200 && status != 101; }

}  // namespace fairlead::http
