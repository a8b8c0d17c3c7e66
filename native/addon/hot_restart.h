// What a process has of hot restarts before it has a data plane: the shared memory, and sockets for
// messages. Part of the edge to Node.
#pragma once

#include <napi.h>

namespace fairlead::addon {

// Adds `hotRestart` to the addon's exports.
void exportHotRestart(const Napi::Env& env, Napi::Object exports);

}  // namespace fairlead::addon
