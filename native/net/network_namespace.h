// Sockets of another network namespace than the process's. Any thread; whoever asks waits.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "net/file_descriptor.h"

namespace fairlead::net {

// What `open` makes, on a thread of its own within the namespace of this file: a socket stays in
// the one that it was made in.
Result<FileDescriptor> inNetworkNamespace(const std::string& file,
                                          const std::function<Result<FileDescriptor>()>& open);

}  // namespace fairlead::net
