// The simplest exchange, and what tests say with it again and again.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "test/native/support/proxy.h"
#include "test/native/support/socket.h"

namespace fairlead::test {

inline constexpr char kGet[] = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
inline constexpr char kOk[] = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

inline void sleepMs(uint32_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

inline std::string ask(Socket& client) {
  client.write(kGet);
  return client.readMessage();
}

// Over a connection of its own.
inline std::string ask(Proxy& proxy, std::string_view request) {
  Socket client = proxy.connect();
  client.write(request);
  return client.readMessage();
}

// Whether what workers held before an update comes back to the control thread, and ends there.
inline bool isGone(Proxy& proxy, const std::weak_ptr<const void>& thing) {
  return proxy.waitUntil([&] {
    proxy.dataPlane().sweep();
    return thing.expired();
  });
}

}  // namespace fairlead::test
