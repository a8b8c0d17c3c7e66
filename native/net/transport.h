// What a connection speaks beneath its codec: how bytes of the codec become bytes of the socket. A
// connection without one is a raw socket, which costs nothing. Owned by its connection; the
// worker's thread.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "net/proxied_client.h"
#include "net/tls_info.h"

namespace fairlead::format {
class PassedMetadata;
}
namespace fairlead::plan {
struct Host;
}

namespace fairlead::net {

class Address;
class Connection;
class DownstreamConnection;
class Overload;

class Transport {
 public:
  virtual ~Transport() = default;

  // Once, before anything else. The connection outlives the transport.
  virtual void attach(Connection& connection) {}

  enum class Handshake : uint8_t { Done, Waiting, Failed };
  // Called at each event until it is done, or has failed. Nothing is read or written before.
  virtual Handshake handshake(int fd) = 0;
  // What its connection leads to is not asked for before the handshake is done.
  virtual bool holdsBack() const { return false; }
  // At each event of the socket, before anything else is made of it. What the events mean above.
  virtual uint32_t onEvents(uint32_t events) { return events; }

  // As recv(2) and sendmsg(2) on a socket that does not block: bytes moved; 0 (reading only) for
  // the peer's end; -1 and errno, where EAGAIN means that an event, or Connection::wake(), will
  // tell of more.
  virtual ssize_t read(int fd, char* to, size_t room) = 0;
  virtual ssize_t write(int fd, const iovec* parts, int count) = 0;
  // The peer is told that nothing more comes; as shutdown(2) of the writing side.
  virtual void endWriting(int fd) = 0;
  // The socket is about to be closed from here, not because of a failure.
  virtual void onClose(int fd) {}

  // Null: it does not speak TLS.
  virtual SharedTlsInfo tls() const { return nullptr; }
  // Why it failed, where that is none of TLS; empty: nothing is known.
  virtual std::string_view failure() const { return {}; }
};

// Whom a connection is for.
struct TransportTarget {
  unsigned worker = 0;
  // Of a host: how the configuration calls it; empty: by its address alone.
  std::string_view host_name = {};
  // What a host is to be asked for, whatever the configuration says; empty: that.
  std::string_view server_name = {};
  // Its certificate must be for one of these names, by line ends; empty: it need not.
  std::string_view wanted_names = {};
  // What a host is offered by ALPN, whatever the configuration says; empty: that.
  std::string_view chosen_protocols = {};
  // Whom a host may be told that the connection is for; null: this proxy itself.
  const ProxiedClient* client = nullptr;
  // What a host is offered by ALPN where the configuration names nothing, each with its length
  // before it; empty: nothing.
  std::string_view protocols = {};
  // Of a host: where it is, and by which proxy its configuration says it is reached; null: none.
  const Address* address = nullptr;
  const Address* proxy = nullptr;
  // What its handshake's time limit follows.
  const Overload* overload = nullptr;
  // Of a client: whose connection it is, which outlives the transport; null: nobody asks.
  DownstreamConnection* owner = nullptr;
};

// Of a filter chain, or of a cluster. Shared by all workers; called on any of their threads.
class TransportFactory {
 public:
  virtual ~TransportFactory() = default;
  virtual std::unique_ptr<Transport> make(const TransportTarget& target) const = 0;
  virtual bool isTls() const { return false; }
  // Where connections go in place of a host, whose configuration names that proxy, or none; null:
  // to the host.
  virtual const Address* proxyFor(const Address* named) const { return nullptr; }
  // What an internal listener is told of a host's connection; null: nothing.
  virtual std::shared_ptr<const format::PassedMetadata> metadataFor(const plan::Host& host,
                                                                    unsigned worker) const {
    return nullptr;
  }
  // Whether it is told of what is shared of the filter state (`net/shared_states.h`), too.
  virtual bool tellsStates() const { return false; }
};

// Null: raw sockets.
using SharedTransport = std::shared_ptr<const TransportFactory>;
inline std::unique_ptr<Transport> makeTransport(const SharedTransport& factory,
                                                const TransportTarget& target) {
  return factory ? factory->make(target) : nullptr;
}
inline bool isTls(const SharedTransport& factory) { return factory && factory->isTls(); }

}  // namespace fairlead::net
