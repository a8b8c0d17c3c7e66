#include "profile/stack_walk.h"

#include <ucontext.h>
#include <unwind.h>

namespace fairlead::profile {

namespace {

uintptr_t programCounter(const void* context) {
  const auto* machine = &static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uintptr_t>(machine->gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<uintptr_t>(machine->pc);
#else
#error "which register is the program counter?"
#endif
}

struct Walk {
  uintptr_t interrupted_at;
  std::span<uintptr_t> out;
  size_t depth = 0;
};

// The frames of the handler itself come first: they are left out.
_Unwind_Reason_Code onFrame(_Unwind_Context* frame, void* argument) {
  auto* walk = static_cast<Walk*>(argument);
  const uintptr_t address = _Unwind_GetIP(frame);
  if (walk->depth == 0 && address != walk->interrupted_at) return _URC_NO_REASON;
  if (walk->depth == walk->out.size()) return _URC_END_OF_STACK;
  // A return address belongs to the call before it.
  walk->out[walk->depth] = walk->depth == 0 ? address : address - 1;
  ++walk->depth;
  return _URC_NO_REASON;
}

}  // namespace

void prepareWalks() {
  uintptr_t none;
  Walk walk{0, {&none, 1}};
  _Unwind_Backtrace(onFrame, &walk);
}

size_t walkStack(const void* context, std::span<uintptr_t> out) {
  Walk walk{programCounter(context), out};
  _Unwind_Backtrace(onFrame, &walk);
  if (walk.depth > 0) return walk.depth;
  out[0] = walk.interrupted_at;
  return 1;
}

}  // namespace fairlead::profile
