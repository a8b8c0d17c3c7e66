// What a connection speaks beneath its codec: how bytes of the codec become bytes of the socket. A
// connection without one is a raw socket, which costs nothing. Owned by its connection; the
// worker's thread.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace fairlead::net {

class Connection;

class Transport {
 public:
  virtual ~Transport() = default;

  // Once, before anything else. The connection outlives the transport.
  virtual void attach(Connection& connection) {}

  enum class Handshake : uint8_t { Done, Waiting, Failed };
  // Called at each event until it is done, or has failed. Nothing is read or written before.
  virtual Handshake handshake(int fd) = 0;

  // As recv(2) and sendmsg(2) on a socket that does not block: bytes moved; 0 (reading only) for
  // the peer's end; -1 and errno, where EAGAIN means that an event, or Connection::wake(), will
  // tell of more.
  virtual ssize_t read(int fd, char* to, size_t room) = 0;
  virtual ssize_t write(int fd, const iovec* parts, int count) = 0;
  // The peer is told that nothing more comes; as shutdown(2) of the writing side.
  virtual void endWriting(int fd) = 0;
};

// Of a filter chain, or of a cluster. Shared by all workers; called on any of their threads.
class TransportFactory {
 public:
  virtual ~TransportFactory() = default;
  virtual std::unique_ptr<Transport> make() const = 0;
};

// Null: raw sockets.
using SharedTransport = std::shared_ptr<const TransportFactory>;
inline std::unique_ptr<Transport> makeTransport(const SharedTransport& factory) {
  return factory ? factory->make() : nullptr;
}

}  // namespace fairlead::net
