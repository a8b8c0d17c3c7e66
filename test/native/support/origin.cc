#include "test/native/support/origin.h"

#include <sys/socket.h>

#include <algorithm>

namespace fairlead::test {

Origin::Origin(Script script) : script_(std::move(script)) {
  listening_ = Socket(listenOnLoopback(&port_));
  thread_ = std::thread([this] { run(); });
}

Origin::~Origin() {
  stopping_ = true;
  ::shutdown(listening_.fd(), SHUT_RDWR);
  thread_.join();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  for (std::thread& script : scripts_) script.join();
}

void Origin::run() {
  while (!stopping_) {
    net::FileDescriptor fd(::accept4(listening_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!fd.valid()) continue;
    const int number = accepted_++;
    const int raw = fd.release();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      open_.push_back(raw);
    }
    scripts_.emplace_back([this, raw, number] {
      Socket socket{net::FileDescriptor(raw)};
      script_(socket, number);
      std::lock_guard<std::mutex> lock(mutex_);
      open_.erase(std::find(open_.begin(), open_.end(), raw));
      socket.close();
    });
  }
}

Origin::Script answering(std::string body) {
  return [body = std::move(body)](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      const bool went = socket.write(
          "HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
      if (!went) return;
    }
  };
}

}  // namespace fairlead::test
