// The internal listeners of one worker: connections to them come from within, on the same worker.
// The worker's thread.
//
// Such a connection is a pair of sockets of the kernel, not of buffers: TLS, splicing, listener
// filters that peek, half-closed ends and watermarks are then what they are for all others.
#pragma once

#include <memory>

#include "net/address.h"
#include "net/file_descriptor.h"

namespace fairlead::format {
class PassedMetadata;
}

namespace fairlead::net {

class SharedStates;

class InternalListeners {
 public:
  // This side of a new connection to a listener, which takes the other one at the end of the turn.
  // Not valid, with errno: there is none of that name (EINVAL), or the system refuses.
  // `metadata`, `states`: what the listener is told; null: nothing.
  virtual FileDescriptor connect(const Address& to,
                                 std::shared_ptr<const format::PassedMetadata> metadata,
                                 const SharedStates* states) = 0;

  // What both ends see as where it comes from.
  static const Address& clientAddress();

 protected:
  ~InternalListeners() = default;
};

}  // namespace fairlead::net
