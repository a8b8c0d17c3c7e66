#include "net/network_namespace.h"

#include <fcntl.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <thread>

namespace fairlead::net {

Result<FileDescriptor> inNetworkNamespace(const std::string& file,
                                          const std::function<Result<FileDescriptor>()>& open) {
  const FileDescriptor space(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!space.valid()) {
    return Error{"failed to open netns file " + file + ": " + std::strerror(errno)};
  }
  Result<FileDescriptor> made = Error{};
  // The thread that asks is never anywhere else.
  std::thread inside([&] {
    if (::setns(space.get(), CLONE_NEWNET) == 0) {
      made = open();
    } else {
      made = Error{"failed to set netns to " + file + ": " + std::strerror(errno)};
    }
  });
  inside.join();
  return made;
}

}  // namespace fairlead::net
