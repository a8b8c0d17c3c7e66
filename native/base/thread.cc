#include "base/thread.h"

#include <signal.h>

#include <memory>
#include <utility>

namespace fairlead {

namespace {

void* runBody(void* body) {
  const std::unique_ptr<std::function<void()>> own(static_cast<std::function<void()>*>(body));
  (*own)();
  return nullptr;
}

}  // namespace

int Thread::start(std::function<void()> body) {
  auto own = std::make_unique<std::function<void()>>(std::move(body));
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = ::pthread_create(&thread_, nullptr, runBody, own.get());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return error;
  // The thread's from here on.
  own.release();
  joinable_ = true;
  return 0;
}

void Thread::join() {
  if (std::exchange(joinable_, false)) ::pthread_join(thread_, nullptr);
}

void Thread::detach() {
  if (std::exchange(joinable_, false)) ::pthread_detach(thread_);
}

}  // namespace fairlead
