// Sends texts as datagrams, many with one system call. What the kernel does not take at once is
// lost, as a datagram may be anywhere on its way. One thread's.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/address.h"
#include "net/file_descriptor.h"

namespace fairlead::net {

class DatagramSender {
 public:
  static Result<DatagramSender> open(const Address& target);

  // Each line ends with '\n'. They leave in datagrams of at most `max_bytes`, with '\n' between
  // them; longer ones, and all where it is 0, have a datagram of their own.
  void send(std::string_view lines, size_t max_bytes);

 private:
  DatagramSender(FileDescriptor socket, Address target)
      : socket_(std::move(socket)), target_(std::move(target)) {}
  void flush();

  FileDescriptor socket_;
  Address target_;
  std::vector<std::string_view> datagrams_;
};

}  // namespace fairlead::net
