#include "addon/process_state.h"

#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

#include "addon/edge.h"
#include "base/mutex.h"

namespace fairlead::addon {

Napi::Value memory(const Napi::Env& env) {
  const struct mallinfo2 now = ::mallinfo2();
  const Napi::Object result = Napi::Object::New(env);
  const auto set = [&result, &env](const char* name, size_t value) {
    result.Set(name, Napi::Number::New(env, static_cast<double>(value)));
  };
  set("allocated", now.uordblks + now.hblkhd);
  set("heapSize", now.arena + now.hblkhd);
  set("free", now.fordblks);
  return result;
}

Napi::Value contention(const Napi::Env& env) {
  const Contention now = fairlead::contention();
  const Napi::Object result = Napi::Object::New(env);
  const auto set = [&result, &env](const char* name, uint64_t value) {
    result.Set(name, Napi::BigInt::New(env, value));
  };
  set("count", now.count);
  set("lastWaitCycles", now.last_wait_cycles);
  set("totalWaitCycles", now.total_wait_cycles);
  return result;
}

Napi::Value enableCoreDump(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (::prctl(PR_SET_DUMPABLE, 1) != 0) return fail(env, std::strerror(errno));
  struct rlimit limit = {};
  ::getrlimit(RLIMIT_CORE, &limit);
  return Napi::Number::New(env, static_cast<double>(limit.rlim_cur));
}

}  // namespace fairlead::addon
