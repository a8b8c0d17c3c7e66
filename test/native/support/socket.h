// A plain blocking socket with a deadline on everything: what tests speak to the proxy with, as its
// clients and as its hosts.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "net/file_descriptor.h"

namespace fairlead::test {

class Socket {
 public:
  Socket() = default;
  explicit Socket(net::FileDescriptor fd);
  // To 127.0.0.1; not open when it is refused. `receive_bytes`: the kernel's buffer; 0: its
  // default.
  static Socket connect(uint16_t port, int receive_bytes = 0);

  bool isOpen() const { return fd_.valid(); }
  int fd() const { return fd_.get(); }
  // False: the peer is gone.
  bool write(std::string_view bytes);
  // The next bytes; empty at the end, after a reset, or when nothing comes for kPatienceMs.
  std::string read(size_t limit = 64 * 1024);
  // Up to and with `mark`, or what came before the end. What follows stays for the next call.
  std::string readUntil(std::string_view mark);
  std::string readExactly(size_t bytes);
  std::string readAll();
  // Throws away up to `bytes`; returns how many came.
  uint64_t discard(uint64_t bytes);
  // An HTTP message with its head and as much body as its content-length or chunks say.
  std::string readMessage();

  // How long reads and writes wait from here on.
  void setPatience(int ms);
  void endWriting();
  void close() { fd_.close(); }
  // The peer gets a reset.
  void reset();
  // The latest read ended with a reset.
  bool wasReset() const { return reset_; }

  static constexpr int kPatienceMs = 10'000;

 private:
  bool fill();

  net::FileDescriptor fd_;
  std::string buffer_;
  bool reset_ = false;
};

// A socket that listens on 127.0.0.1, and its port. `backlog`: connections the kernel answers.
net::FileDescriptor listenOnLoopback(uint16_t* port, int backlog = 128);

// A port of 127.0.0.1 that refuses connections, and is nobody else's while this lives: a port that
// was merely closed may be given to the next who asks for any, and that may be the proxy itself.
class RefusingPort {
 public:
  RefusingPort();
  uint16_t number() const { return number_; }

 private:
  uint16_t number_ = 0;
  net::FileDescriptor bound_;
};

size_t openDescriptors();

// From here to its end the process gets no more descriptors.
class NoMoreDescriptors {
 public:
  NoMoreDescriptors();
  NoMoreDescriptors(const NoMoreDescriptors&) = delete;
  NoMoreDescriptors& operator=(const NoMoreDescriptors&) = delete;
  ~NoMoreDescriptors();

 private:
  rlimit before_;
};

// Expects that as many descriptors are open at its end as were at its beginning.
class DescriptorsBalance {
 public:
  DescriptorsBalance();
  ~DescriptorsBalance();

 private:
  const size_t before_;
};

}  // namespace fairlead::test
