#include "base/check.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/native/test.h"

namespace fairlead {

TEST("native tests run with every check on: a broken invariant ends the process") {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit no_core = {0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::close(STDERR_FILENO);
    FL_DCHECK(child != 0);
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

}  // namespace fairlead
