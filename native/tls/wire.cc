#include "tls/wire.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace fairlead::tls {

namespace {

constexpr int kAlertRecordBytes = 7;
constexpr unsigned char kAlertType = 21;

// A record with an alert that is not encrypted: its type, a version, two bytes.
bool isPlainAlert(const char* bytes, int size) {
  return size == kAlertRecordBytes && static_cast<unsigned char>(bytes[0]) == kAlertType &&
         bytes[3] == 0 && bytes[4] == 2;
}

// A thread's records that wait for the last one of their write: a few, so that they are still in
// the processor's cache when the kernel takes them.
struct Gathered {
  static constexpr size_t kRoom = 68 * 1024;
  size_t size = 0;
  char bytes[kRoom];
};
Gathered& gathered() {
  static thread_local Gathered records;
  return records;
}

// What is unsent, or gathered, and then `bytes`, in one system call. How many of `bytes` were sent;
// -1: none, and what was before them may be unsent; `error` is set where it is not that the socket
// has no room.
ssize_t sendBehind(Wire& wire, std::string_view bytes) {
  Gathered& records = gathered();
  const std::string_view before =
      wire.unsent ? std::string_view(*wire.unsent) : std::string_view(records.bytes, records.size);
  iovec parts[] = {{const_cast<char*>(before.data()), before.size()},
                   {const_cast<char*>(bytes.data()), bytes.size()}};
  msghdr message = {};
  message.msg_iov = before.empty() ? parts + 1 : parts;
  message.msg_iovlen = before.empty() || bytes.empty() ? 1 : 2;
  const ssize_t sent = ::sendmsg(wire.fd, &message, MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN && errno != EINTR) wire.error = errno;
  const size_t done = sent < 0 ? 0 : static_cast<size_t>(sent);
  if (done >= before.size()) {
    wire.unsent.reset();
    records.size = 0;
    const size_t of_bytes = done - before.size();
    return of_bytes > 0 ? static_cast<ssize_t>(of_bytes) : -1;
  }
  if (wire.unsent) {
    wire.unsent->erase(0, done);
  } else {
    wire.unsent = std::make_unique<std::string>(before.substr(done));
    records.size = 0;
  }
  return -1;
}

int writeWire(BIO* bio, const char* bytes, int size) {
  auto& wire = *static_cast<Wire*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  char alert[kAlertRecordBytes];
  if (wire.alert != 0 && isPlainAlert(bytes, size)) {
    std::copy_n(bytes, kAlertRecordBytes, alert);
    alert[kAlertRecordBytes - 1] = static_cast<char>(wire.alert);
    bytes = alert;
  }
  const auto count = static_cast<size_t>(size);
  Gathered& records = gathered();
  if (wire.gathers && !wire.unsent && count <= Gathered::kRoom - records.size) {
    std::memcpy(records.bytes + records.size, bytes, count);
    records.size += count;
    return size;
  }
  const ssize_t sent = sendBehind(wire, {bytes, count});
  if (sent < 0 && wire.error == 0) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int readWire(BIO* bio, char* to, int room) {
  auto& wire = *static_cast<Wire*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (wire.is_drained) {
    BIO_set_retry_read(bio);
    return -1;
  }
  const ssize_t got = ::recv(wire.fd, to, static_cast<size_t>(room), 0);
  if (got > 0) {
    wire.is_drained = got < room && !wire.has_ended;
    return static_cast<int>(got);
  }
  if (got == 0) {
    wire.has_ended = true;
    return 0;
  }
  if (errno == EAGAIN || errno == EINTR) {
    wire.is_drained = errno == EAGAIN;
    BIO_set_retry_read(bio);
  } else {
    wire.error = errno;
  }
  return -1;
}

// A peer that has reset it has not ended what it said.
bool isEnd(const Wire& wire) { return wire.has_ended && wire.error == 0; }

long controlWire(BIO* bio, int command, long, void*) {
  switch (command) {
    case BIO_CTRL_FLUSH:
    case BIO_CTRL_DUP:
      return 1;
    case BIO_CTRL_EOF:
      return isEnd(*static_cast<const Wire*>(BIO_get_data(bio))) ? 1 : 0;
    default:
      return 0;
  }
}

BIO_METHOD* makeMethod() {
  BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "fairlead wire");
  BIO_meth_set_write(method, writeWire);
  BIO_meth_set_read(method, readWire);
  BIO_meth_set_ctrl(method, controlWire);
  return method;
}

}  // namespace

void Wire::sendGathered() {
  gathers = false;
  if (gathered().size > 0) sendBehind(*this, {});
}

BIO* Wire::makeBio() {
  // Never freed: connections may be closed until the process ends.
  static BIO_METHOD* const method = makeMethod();
  BIO* bio = BIO_new(method);
  if (!bio) return nullptr;
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace fairlead::tls
