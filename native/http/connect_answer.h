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

// Of "HTTP/1.1 200 OK"; 0: it is no status line.
inline unsigned connectStatus(std::string_view head) {
  if (!head.starts_with("HTTP/1.") || head.size() < 12 || head[8] != ' ') return 0;
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
