// Begins a connection to a host. The descriptor is non-blocking; success is told by its first
// event.
#pragma once

#include "net/file_descriptor.h"
#include "plan/plan.gen.h"
#include "upstream/host.h"

namespace fairlead::upstream {

// `error`: errno when the kernel refuses at once (the descriptor is then not valid).
net::FileDescriptor beginConnect(const Host& host, const plan::Cluster& settings, int* error);

}  // namespace fairlead::upstream
