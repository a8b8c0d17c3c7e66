// What OpenSSL reads from and writes to: the socket itself, without a buffer in between. A read
// that got less than it asked for has emptied the socket: the next one is not asked of the kernel
// before an event says that there is more.
#pragma once

#include <cstdint>

#include "tls/openssl.h"

namespace fairlead::tls {

struct Wire {
  int fd = -1;
  // Nothing can be read until an event comes.
  bool is_drained = false;
  // The peer has ended: no event comes before the end is read.
  bool has_ended = false;
  // Not 0: an alert that is sent in the clear has this number instead of its own.
  uint8_t alert = 0;
  // errno of what failed; 0: nothing did.
  int error = 0;

  // A BIO on it, which it outlives. Null: no memory.
  BIO* makeBio();
};

}  // namespace fairlead::tls
