// What every listen socket needs before it listens, whoever it is for.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "net/address.h"

namespace fairlead::net {

// An address that a process left a moment ago can be bound again; an IPv6 one takes no IPv4
// clients.
void allowReuse(int fd, const Address& address);

// Binds a socket; what a dead process has left of a pipe is removed. `pipe_mode` 0: as the
// process's mask says. Returns what could not be done, for an error's text, with errno set; null:
// it is bound.
const char* bindTo(int fd, const Address& address, mode_t pipe_mode);

// "cannot bind '127.0.0.1:80': Permission denied": what errno says of `what`.
Error addressError(const char* what, const Address& address);

}  // namespace fairlead::net
