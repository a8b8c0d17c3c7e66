// A host behind the proxy: listens on loopback, and plays a script on every connection, each on a
// thread of its own.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "test/native/support/socket.h"

namespace fairlead::test {

class Origin {
 public:
  // `number`: which connection this is, from 0. The socket closes when the script returns.
  using Script = std::function<void(Socket& socket, int number)>;
  explicit Origin(Script script);
  Origin(const Origin&) = delete;
  Origin& operator=(const Origin&) = delete;
  ~Origin();

  uint16_t port() const { return port_; }
  // Connections so far.
  int connections() const { return accepted_; }

 private:
  void run();

  const Script script_;
  uint16_t port_ = 0;
  Socket listening_;
  std::atomic<int> accepted_{0};
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> scripts_;
  std::mutex mutex_;
  std::vector<int> open_;  // Guarded by mutex_.
  std::thread thread_;
};

// Answers every request with 200 and that body, until the peer leaves.
Origin::Script answering(std::string body);

}  // namespace fairlead::test
