// Requests with bodies that are far longer than what may wait of one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "test/native/support/exchange.h"
#include "test/native/test.h"

namespace fairlead::test {

inline constexpr uint64_t kLongBytes = 8 * 1024 * 1024;

inline void sendLong(Socket& client) {
  client.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: " + std::to_string(kLongBytes) +
               "\r\n\r\n");
  const std::string part(64 * 1024, 'p');
  for (uint64_t sent = 0; sent < kLongBytes; sent += part.size()) EXPECT(client.write(part));
}

// Reads that body, the first part of it with pauses, and answers.
inline auto counting(std::atomic<uint64_t>* bytes, int pause_ms) {
  return [bytes, pause_ms](Socket& socket, int) {
    socket.readUntil("\r\n\r\n");
    while (*bytes < kLongBytes) {
      const std::string part = socket.read();
      if (part.empty()) return;
      *bytes += part.size();
      if (pause_ms > 0 && *bytes < kLongBytes / 8)
        std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    }
    socket.write(kOk);
    socket.readAll();
  };
}

// A client's upload is taken to its end, whatever becomes of its copy. `own`: what its host counts.
inline void expectTaken(const Proxy& proxy, const std::atomic<uint64_t>& own) {
  Socket client = proxy.connect();
  sendLong(client);
  EXPECT(client.readMessage().ends_with("ok"));
  EXPECT_EQ(own.load(), kLongBytes);
}

// Answers before the body is whole, and once all of it waits that may.
inline void answerEarly(Socket& socket, int) {
  socket.readUntil("\r\n\r\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  socket.write("HTTP/1.1 413 Payload Too Large\r\ncontent-length: 0\r\n\r\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
}

}  // namespace fairlead::test
