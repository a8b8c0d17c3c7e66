// What Node does not tell of the process: its memory, the waits for its locks, its core dumps. The
// control thread's.
#pragma once

#include <napi.h>

namespace fairlead::addon {

// {allocated, heapSize, free}: bytes that the C library's heap holds.
Napi::Value memory(const Napi::Env& env);
// {count, lastWaitCycles, totalWaitCycles}, once mutexes are traced.
Napi::Value contention(const Napi::Env& env);
// Whether the kernel may write a core dump of this process, and how large it may be: 0 for none.
Napi::Value enableCoreDump(const Napi::CallbackInfo& info);

}  // namespace fairlead::addon
