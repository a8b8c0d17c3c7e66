// Sockets with options that the configuration names by their numbers.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "net/address.h"
#include "net/file_descriptor.h"

namespace fairlead::net {

enum class SocketState { kPrebind, kBound, kListening };

// For setsockopt(2).
struct SocketOption {
  int level = 0;
  int name = 0;
  std::string value;
  SocketState state = SocketState::kPrebind;
};

struct OpenedSocket {
  // Invalid after an error, and where an option could not be set before binding.
  FileDescriptor fd;
  // Why there is none; empty: there is one, or an option is why.
  std::string error;
  // By index, with the error of each.
  struct Failure {
    size_t option = 0;
    int error = 0;
  };
  std::vector<Failure> failures;
};

// Opens a socket that listens at `address`, each option set when the socket is in its state. What a
// dead process has left of a pipe is removed; `pipe_mode` 0: as the process's mask says.
OpenedSocket openListenSocket(const Address& address, mode_t pipe_mode,
                              const std::vector<SocketOption>& options);

}  // namespace fairlead::net
