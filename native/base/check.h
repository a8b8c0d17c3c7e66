// FL_CHECK: an invariant of ours. Broken means a bug of ours, never bad input: say where, and die.
// FL_DCHECK: the same where tests run; the addon that is installed pays nothing for it (NDEBUG).
#pragma once

#include <cstdio>
#include <cstdlib>

namespace fairlead {

[[noreturn]] inline void checkFailed(const char* what, const char* file, int line) {
  std::fprintf(stderr, "fairlead: broken invariant %s at %s:%d\n", what, file, line);
  std::abort();
}

}  // namespace fairlead

#define FL_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::fairlead::checkFailed(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#define FL_DCHECK(condition) static_cast<void>(0)
#else
#define FL_DCHECK(condition) FL_CHECK(condition)
#endif
