#include "tls/wire.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fairlead::tls {

namespace {

constexpr int kAlertRecordBytes = 7;
constexpr unsigned char kAlertType = 21;

// A record with an alert that is not encrypted: its type, a version, two bytes.
bool isPlainAlert(const char* bytes, int size) {
  return size == kAlertRecordBytes && static_cast<unsigned char>(bytes[0]) == kAlertType &&
         bytes[3] == 0 && bytes[4] == 2;
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
  const ssize_t sent = ::send(wire.fd, bytes, static_cast<size_t>(size), MSG_NOSIGNAL);
  if (sent >= 0) return static_cast<int>(sent);
  if (errno == EAGAIN || errno == EINTR) {
    BIO_set_retry_write(bio);
  } else {
    wire.error = errno;
  }
  return -1;
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

long controlWire(BIO* bio, int command, long, void*) {
  switch (command) {
    case BIO_CTRL_FLUSH:
    case BIO_CTRL_DUP:
      return 1;
    case BIO_CTRL_EOF:
      return static_cast<const Wire*>(BIO_get_data(bio))->has_ended ? 1 : 0;
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
