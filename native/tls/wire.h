// What OpenSSL reads from and writes to: the socket itself, without a buffer in between. A read
// that got less than it asked for has emptied the socket: the next one is not asked of the kernel
// before an event says that there is more. Records that are written one after the other may be
// gathered, and leave in one system call with the last of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

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

  // What is written waits for the next write, as long as there is room for it in its thread's
  // buffer. Whoever sets this writes once more without it, or calls sendGathered(), before anybody
  // else of the thread writes.
  bool gathers = false;
  // What the socket did not take of that; null: it took all. Goes before anything else. Whoever
  // gathered has more to write then: OpenSSL did not get rid of its last record.
  std::unique_ptr<std::string> unsent;

  // What is gathered goes out, or becomes `unsent`.
  void sendGathered();

  // A BIO on it, which it outlives. Null: no memory.
  BIO* makeBio();
};

}  // namespace fairlead::tls
