// Connections to a listen socket, as descriptors for whoever serves them in JavaScript without
// being able to listen on a descriptor. The control thread's.
#pragma once

#include <napi.h>

namespace fairlead::addon {

// acceptConnections(fd, onConnection), receivedBytes(fd), duplicateDescriptor(fd): see `Addon` in
// src/native.ts.
Napi::Value acceptConnections(const Napi::CallbackInfo& info);
Napi::Value receivedBytes(const Napi::CallbackInfo& info);
Napi::Value duplicateDescriptor(const Napi::CallbackInfo& info);

}  // namespace fairlead::addon
