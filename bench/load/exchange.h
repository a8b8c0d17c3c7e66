// One request and its whole answer: what both load programs do, with as little HTTP as that needs.
#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <string_view>

#include "bench/support/sockets.h"

namespace fairlead::bench {

inline std::string requestFor(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nhost: bench\r\n\r\n";
}

inline int connectBlocking(uint16_t port) {
  const int fd = check(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  setNoDelay(fd);
  const sockaddr_in address = loopback(port);
  check(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect");
  return fd;
}

// The value of content-length, however its name is spelled; 0 without one.
inline size_t contentLength(std::string head) {
  std::transform(head.begin(), head.end(), head.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view kName = "\r\ncontent-length: ";
  size_t length = 0;
  if (const size_t at = head.find(kName); at != std::string::npos) {
    std::from_chars(head.data() + at + kName.size(), head.data() + head.size(), length);
  }
  return length;
}

// Blocking: asks once on `fd`, reads the whole answer. Returns its bytes, head included.
inline size_t exchange(int fd, std::string_view request) {
  if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) fail("send");
  char bytes[16 * 1024];
  std::string head;
  size_t answer_bytes = 0;
  size_t seen = 0;
  do {
    const ssize_t got = recv(fd, bytes, sizeof bytes, 0);
    if (got <= 0) fail("no answer");
    seen += static_cast<size_t>(got);
    if (answer_bytes > 0) continue;
    head.append(bytes, static_cast<size_t>(got));
    const size_t end = head.find("\r\n\r\n");
    if (end != std::string::npos) answer_bytes = end + 4 + contentLength(head.substr(0, end));
  } while (answer_bytes == 0 || seen < answer_bytes);
  return answer_bytes;
}

}  // namespace fairlead::bench
