// Listen sockets that Node serves, with options that Node cannot set. The control thread's.
#pragma once

#include <napi.h>

namespace fairlead::addon {

// openListenSocket(address, mode, options): see `Addon` in src/native.ts.
Napi::Value openListenSocket(const Napi::CallbackInfo& info);

}  // namespace fairlead::addon
