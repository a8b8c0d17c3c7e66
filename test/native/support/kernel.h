// What the code under test asks of the system: counted, and refused where a test wants it. This
// binary's own functions of these names stand before the C library's.
#pragma once

#include <netinet/in.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fairlead::test {

enum class Call : uint8_t {
  // Of epoll_ctl, only what adds a descriptor.
  EpollAdd,
  EpollCreate,
  Eventfd,
  Getsockname,
  PthreadCreate,
  Setsockopt,
  Write,
  kCount,
};

// Calls so far, of all threads.
uint64_t callCount(Call call);

// From here to its end, calls of that kind fail with `error`: all, but for the first `granted`.
class Refusing {
 public:
  Refusing(Call call, int error, int granted = 0);
  Refusing(const Refusing&) = delete;
  Refusing& operator=(const Refusing&) = delete;
  ~Refusing();

 private:
  const Call call_;
};

// What this thread took of the heap so far, in pieces.
uint64_t allocationCount();
// The same in bytes, as they were asked for.
uint64_t allocatedBytes();

// From here to its end, connections of IPv4 were all meant for this address: the packet filter
// redirected them.
class Redirecting {
 public:
  explicit Redirecting(const sockaddr_in& meant_for);
  Redirecting(const Redirecting&) = delete;
  Redirecting& operator=(const Redirecting&) = delete;
  ~Redirecting();
};

}  // namespace fairlead::test
