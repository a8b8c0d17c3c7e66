// The process's log as JavaScript has it.
#pragma once

#include <napi.h>

namespace fairlead::addon {

Napi::Object makeLog(Napi::Env env);

}  // namespace fairlead::addon
