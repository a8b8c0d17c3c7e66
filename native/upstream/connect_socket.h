// Sockets towards hosts, as the cluster's configuration has them. The worker's thread.
#pragma once

#include "net/address.h"
#include "net/file_descriptor.h"
#include "net/original_source.h"
#include "plan/plan.gen.h"

namespace fairlead::upstream {

// A socket that does not block, with connect(2) begun; not valid with an `error`, an errno. `from`:
// whose address it has; null: as the settings say.
net::FileDescriptor beginConnect(const net::Address& address, const plan::Cluster& settings,
                                 const net::OriginalSource* from, int* error);

}  // namespace fairlead::upstream
