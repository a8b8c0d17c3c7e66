// Sockets towards hosts, as the cluster's configuration has them. The worker's thread.
#pragma once

#include <climits>
#include <string>

#include "net/address.h"
#include "net/file_descriptor.h"
#include "net/original_source.h"
#include "plan/plan.gen.h"

namespace fairlead::upstream {

// In place of an errno: one of the socket's options was refused.
inline constexpr int kOptionRefused = INT_MIN;
// Whether a socket's own address could not be taken.
inline bool isUnbound(int error) { return error < 0 && error != kOptionRefused; }

// A socket that does not block, with connect(2) begun; not valid with an `error`: an errno, which
// is negative where the socket could not be bound, or kOptionRefused. `from`: whose address it has;
// null: as the settings say.
net::FileDescriptor beginConnect(const net::Address& address, const plan::Cluster& settings,
                                 const net::OriginalSource* from, int* error);

// What a socket to that address is bound to; likewise.
std::string sourceText(const net::Address& to, const plan::Cluster& settings,
                       const net::OriginalSource* from);

}  // namespace fairlead::upstream
