// What of a connection's bytes its pool has been told of. Part of a client codec; its thread.
#pragma once

#include <cstdint>

#include "http/codec.h"
#include "net/connection.h"

namespace fairlead::http {

class CountedBytes {
 public:
  // Tells of those that have moved since the previous call.
  void tell(const net::Connection& connection, ClientCodecCallbacks& callbacks) {
    const uint64_t read = connection.readBytes();
    const uint64_t written = connection.writtenBytes();
    if (read == read_ && written == written_) return;
    callbacks.onBytes(read - read_, written - written_);
    read_ = read;
    written_ = written;
  }

 private:
  uint64_t read_ = 0;
  uint64_t written_ = 0;
};

}  // namespace fairlead::http
