#include "net/datagram_sender.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace fairlead::net {

namespace {
constexpr size_t kBatch = 64;
}

Result<DatagramSender> DatagramSender::open(const Address& target) {
  FileDescriptor socket(::socket(target.family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return Error{std::string("no datagram socket: ") + std::strerror(errno)};
  return DatagramSender(std::move(socket), target);
}

void DatagramSender::send(std::string_view lines, size_t max_bytes) {
  // The datagram that is being filled: neighbours in `lines`.
  std::string_view open;
  const auto close = [&] {
    if (open.empty()) return;
    datagrams_.push_back(open);
    open = {};
    if (datagrams_.size() == kBatch) flush();
  };
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end);
    const size_t joined =
        open.empty() ? line.size() : static_cast<size_t>(line.data() + line.size() - open.data());
    if (joined > max_bytes) close();
    open = open.empty() ? line : std::string_view(open.data(), joined);
    if (open.size() >= max_bytes) close();
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
  }
  close();
  flush();
}

void DatagramSender::flush() {
  std::array<iovec, kBatch> parts;
  std::array<mmsghdr, kBatch> messages = {};
  for (size_t i = 0; i < datagrams_.size(); ++i) {
    parts[i] = {const_cast<char*>(datagrams_[i].data()), datagrams_[i].size()};
    messages[i].msg_hdr.msg_name = const_cast<sockaddr*>(target_.raw());
    messages[i].msg_hdr.msg_namelen = target_.rawSize();
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  for (size_t sent = 0; sent < datagrams_.size();) {
    const int count = ::sendmmsg(socket_.get(), &messages[sent],
                                 static_cast<unsigned>(datagrams_.size() - sent), MSG_NOSIGNAL);
    // An error is that of the first: nobody listens there, or there is no room.
    sent += count > 0 ? static_cast<size_t>(count) : 1;
  }
  datagrams_.clear();
}

}  // namespace fairlead::net
