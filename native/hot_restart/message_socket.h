// A datagram socket by which processes of one machine talk and pass descriptors. Messages of other
// users are dropped: an abstract name has no owner that would keep them off. The control thread's.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/file_descriptor.h"

namespace fairlead::hot_restart {

class MessageSocket {
 public:
  // What fits into one message, and how many descriptors with it.
  static constexpr size_t kMaxBytes = 32 * 1024;
  static constexpr size_t kMaxDescriptors = 64;

  MessageSocket() = default;
  MessageSocket(MessageSocket&&) = default;
  MessageSocket& operator=(MessageSocket&&) = delete;
  // Removes its file, if it has one.
  ~MessageSocket();

  // `name`: "@…" is an abstract name, anything else a file, which is made with `mode` (less the
  // umask). Returns 0 or an errno. A file whose process is gone is replaced.
  int bind(const std::string& name, mode_t mode);
  // Without a name: for what expects no answer.
  int open();

  // Returns 0 or an errno; EAGAIN when the receiver does not keep up. The descriptors stay the
  // caller's.
  int send(const std::string& to, std::string_view bytes, std::span<const int> descriptors);

  struct Message {
    std::string bytes;
    std::vector<net::FileDescriptor> descriptors;
  };
  // Returns 0 or an errno: EAGAIN when there is none, EBADMSG for one that came incomplete or from
  // another user. Its sender hears nothing and gives up.
  int receive(Message* message);

  int fd() const { return fd_.get(); }

 private:
  net::FileDescriptor fd_;
  // The file that it is bound to; empty for an abstract name.
  std::string file_;
};

}  // namespace fairlead::hot_restart
