// Addresses as the kernel and as people see them. Values.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "plan/plan.gen.h"

namespace fairlead::net {

// An IP address with its port, a pipe's path, or a listener of this process. Small, because every
// connection has two: what is no IP address lives apart, shared by all copies, on whatever thread.
class Address {
 public:
  Address() = default;
  Address(const Address& other) : storage_(other.storage_) {
    if (Pipe* pipe = this->pipe()) pipe->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Address(Address&& other) noexcept : storage_(std::exchange(other.storage_, Storage{})) {}
  Address& operator=(Address other) noexcept {
    std::swap(storage_, other.storage_);
    return *this;
  }
  ~Address() {
    if (pipe()) [[unlikely]]
      letPipeGo();
  }
  // 4 or 16 bytes in network order, as they are.
  static Address fromIp(std::string_view ip, uint16_t port);
  static Address fromPlan(const plan::Address& address);
  // Of a listener of this process. `endpoint_id`: may be empty.
  static Address internal(std::string_view listener, std::string_view endpoint_id);
  static Address fromKernel(const sockaddr* address, socklen_t length);

  const sockaddr* raw() const {
    return pipe() ? reinterpret_cast<const sockaddr*>(&pipe()->address) : &storage_.any;
  }
  // 0: there is none.
  socklen_t rawSize() const;
  int family() const { return storage_.any.sa_family; }
  bool isIp() const { return family() == AF_INET || family() == AF_INET6; }
  bool isInternal() const { return pipe() && !pipe()->internal.empty(); }
  // Of an internal one: the listener's name, and as which of its endpoints.
  std::string_view internalListener() const;
  std::string_view endpointId() const;
  // 0 for a pipe.
  uint16_t port() const;
  // "10.0.0.1", "::1", or the path.
  std::string ip() const;
  // "10.0.0.1:80", "[::1]:80", the path, or "envoy://listener/endpoint".
  std::string text() const;
  // The same into `out` (at least kTextBytes): no allocation. Returns what was written, or what the
  // address has of it.
  static constexpr size_t kTextBytes = 112;
  std::string_view writeIp(char* out) const;
  std::string_view writeText(char* out) const;
  bool isLoopback() const;
  // 0.0.0.0 or ::, which a socket that is bound to all addresses has.
  bool isAny() const;
  // Network order: 4 or 16 bytes; empty for a pipe.
  std::string_view ipBytes() const;
  // The same address and port, or the same pipe.
  friend bool operator==(const Address& one, const Address& other) {
    const socklen_t size = one.rawSize();
    return size == other.rawSize() && std::memcmp(one.raw(), other.raw(), size) == 0 &&
           (!one.pipe() || one.pipe()->internal == other.pipe()->internal);
  }
  bool sameIp(const Address& other) const { return ipBytes() == other.ipBytes(); }

 private:
  struct Pipe {
    sockaddr_un address = {};
    socklen_t size = 0;
    // "envoy://listener/endpoint"; empty: a path.
    std::string internal = {};
    size_t listener_size = 0;
    std::atomic<uint32_t> owners{1};
  };
  // Begins as every sockaddr does.
  struct PipeRef {
    sa_family_t family;
    Pipe* pipe;
  };
  union Storage {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
    PipeRef pipe;
  };

  // Null: it is none.
  Pipe* pipe() const { return family() == AF_UNIX ? storage_.pipe.pipe : nullptr; }
  void letPipeGo();
  void unmap();

  Storage storage_ = {};
};

// Parses "10.0.0.1", "::1", with or without a port ("10.0.0.1:80", "[::1]:80"). False: no address.
bool parseIp(std::string_view text, Address* out);

// A range of addresses.
class Cidr {
 public:
  explicit Cidr(const plan::CidrRange& range) : ip_(range.ip), bits_(range.prefix_length) {}
  bool contains(const Address& address) const;

 private:
  std::string ip_;
  uint32_t bits_;
};

}  // namespace fairlead::net
