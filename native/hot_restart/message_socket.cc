#include "hot_restart/message_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace fairlead::hot_restart {

namespace {

struct PipeAddress {
  sockaddr_un address = {};
  socklen_t size = 0;

  const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&address); }
};

// Size 0: the name is too long.
PipeAddress pipeAddress(const std::string& name) {
  PipeAddress result;
  if (name.empty() || name.size() >= sizeof(result.address.sun_path)) return result;
  result.address.sun_family = AF_UNIX;
  std::memcpy(result.address.sun_path, name.data(), name.size());
  const bool is_abstract = name[0] == '@';
  if (is_abstract) result.address.sun_path[0] = '\0';
  result.size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + (is_abstract ? 0 : 1));
  return result;
}

// Whether the process that made this file is gone.
bool isLeftover(const PipeAddress& address) {
  const net::FileDescriptor probe(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return probe.valid() && ::connect(probe.get(), address.raw(), address.size) != 0 &&
         errno == ECONNREFUSED;
}

}  // namespace

MessageSocket::~MessageSocket() {
  if (!file_.empty()) ::unlink(file_.c_str());
}

int MessageSocket::open() {
  fd_ = net::FileDescriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd_.valid()) return errno;
  const int on = 1;
  return ::setsockopt(fd_.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0 ? 0 : errno;
}

int MessageSocket::bind(const std::string& name, mode_t mode) {
  const PipeAddress address = pipeAddress(name);
  if (address.size == 0) return ENAMETOOLONG;
  if (const int error = open()) return error;
  const bool is_file = name[0] != '@';
  // The file appears with this mode, less the umask.
  if (is_file && ::fchmod(fd_.get(), mode) != 0) return errno;
  int result = ::bind(fd_.get(), address.raw(), address.size);
  if (result != 0 && errno == EADDRINUSE && is_file && isLeftover(address)) {
    ::unlink(name.c_str());
    result = ::bind(fd_.get(), address.raw(), address.size);
  }
  if (result != 0) return errno;
  if (is_file) file_ = name;
  return 0;
}

int MessageSocket::send(const std::string& to, std::string_view bytes,
                        std::span<const int> descriptors) {
  PipeAddress address = pipeAddress(to);
  if (address.size == 0) return ENAMETOOLONG;
  if (bytes.size() > kMaxBytes || descriptors.size() > kMaxDescriptors) return EMSGSIZE;
  iovec part = {const_cast<char*>(bytes.data()), bytes.size()};
  msghdr header = {};
  header.msg_name = &address.address;
  header.msg_namelen = address.size;
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))];
  if (!descriptors.empty()) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  for (;;) {
    if (::sendmsg(fd_.get(), &header, MSG_NOSIGNAL) >= 0) return 0;
    if (errno != EINTR) return errno;
  }
}

int MessageSocket::receive(Message* message) {
  for (;;) {
    message->bytes.resize(kMaxBytes);
    message->descriptors.clear();
    iovec part = {message->bytes.data(), message->bytes.size()};
    alignas(cmsghdr) char
        control[CMSG_SPACE(kMaxDescriptors * sizeof(int)) + CMSG_SPACE(sizeof(ucred))];
    msghdr header = {};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    const ssize_t size = ::recvmsg(fd_.get(), &header, MSG_CMSG_CLOEXEC);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno;
    message->bytes.resize(static_cast<size_t>(size));
    uid_t sender = static_cast<uid_t>(-1);
    for (cmsghdr* item = CMSG_FIRSTHDR(&header); item; item = CMSG_NXTHDR(&header, item)) {
      if (item->cmsg_level != SOL_SOCKET) continue;
      if (item->cmsg_type == SCM_CREDENTIALS) {
        ucred credentials;
        std::memcpy(&credentials, CMSG_DATA(item), sizeof(credentials));
        sender = credentials.uid;
      }
      if (item->cmsg_type != SCM_RIGHTS) continue;
      const size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(item) + i * sizeof(int), sizeof(fd));
        message->descriptors.emplace_back(fd);
      }
    }
    const bool is_whole = (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
    const bool may_speak = sender == ::geteuid() || sender == 0;
    return is_whole && may_speak ? 0 : EBADMSG;
  }
}

}  // namespace fairlead::hot_restart
