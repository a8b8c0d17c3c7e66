#include "test/native/support/kernel.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace fairlead::test {

namespace {

struct Seen {
  std::atomic<uint64_t> count{0};
  // 0: none is refused.
  std::atomic<int> error{0};
  std::atomic<int> granted{0};
};
constinit std::array<Seen, static_cast<size_t>(Call::kCount)> seen;
thread_local uint64_t allocations = 0;
thread_local uint64_t allocated_bytes = 0;
// Null: nobody redirects.
constinit std::atomic<const sockaddr_in*> redirected_from{nullptr};

Seen& of(Call call) { return seen[static_cast<size_t>(call)]; }

// The error of a call that is refused; 0: it is not.
int refusal(Call call) {
  Seen& of_call = of(call);
  of_call.count.fetch_add(1, std::memory_order_relaxed);
  const int error = of_call.error;
  return error != 0 && of_call.granted.fetch_sub(1) <= 0 ? error : 0;
}

// As the system would do it.
template <typename... Arguments>
long ask(Call call, long number, Arguments... arguments) {
  if (const int error = refusal(call)) {
    errno = error;
    return -1;
  }
  return ::syscall(number, arguments...);
}

}  // namespace

uint64_t callCount(Call call) { return of(call).count; }

Refusing::Refusing(Call call, int error, int granted) : call_(call) {
  of(call).granted = granted;
  of(call).error = error;
}

Refusing::~Refusing() { of(call_).error = 0; }

uint64_t allocationCount() { return allocations; }

uint64_t allocatedBytes() { return allocated_bytes; }

Redirecting::Redirecting(const sockaddr_in& meant_for) { redirected_from = &meant_for; }

Redirecting::~Redirecting() { redirected_from = nullptr; }

}  // namespace fairlead::test

using fairlead::test::Call;

// Libraries must find these before libc's, whatever else the program hides.
#pragma GCC visibility push(default)
extern "C" {

int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  if (operation != EPOLL_CTL_ADD) {
    return static_cast<int>(::syscall(SYS_epoll_ctl, epoll, operation, fd, event));
  }
  return static_cast<int>(
      fairlead::test::ask(Call::EpollAdd, SYS_epoll_ctl, epoll, operation, fd, event));
}

int epoll_create1(int flags) noexcept {
  return static_cast<int>(fairlead::test::ask(Call::EpollCreate, SYS_epoll_create1, flags));
}

int eventfd(unsigned value, int flags) noexcept {
  return static_cast<int>(fairlead::test::ask(Call::Eventfd, SYS_eventfd2, value, flags));
}

int getsockname(int fd, sockaddr* address, socklen_t* size) noexcept {
  return static_cast<int>(
      fairlead::test::ask(Call::Getsockname, SYS_getsockname, fd, address, size));
}

int getsockopt(int fd, int level, int name, void* value, socklen_t* size) noexcept {
  const sockaddr_in* from = fairlead::test::redirected_from;
  if (from && level == IPPROTO_IP && name == 80) {
    std::memcpy(value, from, sizeof(*from));
    *size = sizeof(*from);
    return 0;
  }
  return static_cast<int>(::syscall(SYS_getsockopt, fd, level, name, value, size));
}

int setsockopt(int fd, int level, int name, const void* value, socklen_t size) noexcept {
  return static_cast<int>(
      fairlead::test::ask(Call::Setsockopt, SYS_setsockopt, fd, level, name, value, size));
}

ssize_t write(int fd, const void* bytes, size_t size) {
  return fairlead::test::ask(Call::Write, SYS_write, fd, bytes, size);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) noexcept {
  if (const int error = fairlead::test::refusal(Call::PthreadCreate)) return error;
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, body, argument);
}

}  // extern "C"
#pragma GCC visibility pop

void* operator new(size_t size) {
  ++fairlead::test::allocations;
  fairlead::test::allocated_bytes += size;
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (!memory) std::abort();
  return memory;
}
// AddressSanitizer's own would not fit the operator that frees.
void* operator new(size_t size, const std::nothrow_t&) noexcept { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
