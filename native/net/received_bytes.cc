#include "net/received_bytes.h"

// Not the C library's header, which knows fewer fields and cannot stand beside this one.
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace fairlead::net {

namespace {

// The kernel's states of a connection whose peer has sent its end.
constexpr unsigned kCloseWait = 8;
constexpr unsigned kLastAck = 9;
constexpr unsigned kClosing = 11;

}  // namespace

uint64_t receivedBytes(int fd) {
  tcp_info state = {};
  socklen_t size = sizeof(state);
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &state, &size) != 0) return 0;
  const unsigned now = state.tcpi_state;
  // The end takes a number of the sequence, as a byte does.
  const bool has_ended = now == kCloseWait || now == kLastAck || now == kClosing;
  return state.tcpi_bytes_received - (has_ended ? 1 : 0);
}

bool hasUnsent(int fd) {
  int bytes = 0;
  return ::ioctl(fd, SIOCOUTQNSD, &bytes) == 0 && bytes > 0;
}

uint64_t roundTripMs(int fd) {
  tcp_info state = {};
  socklen_t size = sizeof(state);
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &state, &size) != 0) return 0;
  return state.tcpi_rtt / 1000;
}

}  // namespace fairlead::net
