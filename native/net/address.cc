#include "net/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>

#include "base/check.h"

namespace fairlead::net {

Address Address::fromIp(std::string_view ip, uint16_t port) {
  Address address;
  if (ip.size() == 4) {
    address.storage_.v4.sin_family = AF_INET;
    address.storage_.v4.sin_port = htons(port);
    std::memcpy(&address.storage_.v4.sin_addr, ip.data(), 4);
  } else {
    FL_CHECK(ip.size() == 16);
    address.storage_.v6.sin6_family = AF_INET6;
    address.storage_.v6.sin6_port = htons(port);
    std::memcpy(&address.storage_.v6.sin6_addr, ip.data(), 16);
  }
  return address;
}

namespace {
constexpr std::string_view kInternalScheme = "envoy://";
}

Address Address::internal(std::string_view listener, std::string_view endpoint_id) {
  auto* pipe = new Pipe;
  pipe->address.sun_family = AF_UNIX;
  pipe->size = offsetof(sockaddr_un, sun_path);
  pipe->internal.append(kInternalScheme).append(listener).append("/").append(endpoint_id);
  pipe->listener_size = listener.size();
  Address address;
  address.storage_.pipe = {AF_UNIX, pipe};
  return address;
}

std::string_view Address::internalListener() const {
  if (!isInternal()) return {};
  return std::string_view(pipe()->internal).substr(kInternalScheme.size(), pipe()->listener_size);
}

std::string_view Address::endpointId() const {
  if (!isInternal()) return {};
  return std::string_view(pipe()->internal)
      .substr(kInternalScheme.size() + pipe()->listener_size + 1);
}

Address Address::fromPlan(const plan::Address& from) {
  if (!from.internal_listener.empty()) return internal(from.internal_listener, from.endpoint_id);
  if (from.ip.size() == 4 || from.ip.size() == 16) {
    return fromIp(from.ip, static_cast<uint16_t>(from.port));
  }
  Address address;
  auto* pipe = new Pipe;
  sockaddr_un& to = pipe->address;
  to.sun_family = AF_UNIX;
  const size_t length = std::min(from.pipe.size(), sizeof(to.sun_path) - 1);
  std::memcpy(to.sun_path, from.pipe.data(), length);
  // A leading @ is the abstract namespace: its first byte is 0, and its length counts.
  const bool abstract = length > 0 && from.pipe[0] == '@';
  if (abstract) to.sun_path[0] = '\0';
  const size_t terminator = abstract ? 0 : 1;
  pipe->size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length + terminator);
  address.storage_.pipe = {AF_UNIX, pipe};
  return address;
}

Address Address::fromKernel(const sockaddr* from, socklen_t length) {
  Address address;
  if (from->sa_family == AF_UNIX) {
    auto* pipe = new Pipe;
    pipe->size = std::min<socklen_t>(length, sizeof(sockaddr_un));
    std::memcpy(&pipe->address, from, pipe->size);
    address.storage_.pipe = {AF_UNIX, pipe};
  } else {
    std::memcpy(&address.storage_, from, std::min<size_t>(length, sizeof(sockaddr_in6)));
    if (address.family() == AF_INET6) address.unmap();
  }
  return address;
}

// A socket of IPv6 that takes clients of IPv4 (ipv4_compat) has them as ::ffff:192.0.2.1.
void Address::unmap() {
  const sockaddr_in6 v6 = storage_.v6;
  if (!IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) return;
  storage_ = {};
  storage_.v4.sin_family = AF_INET;
  storage_.v4.sin_port = v6.sin6_port;
  std::memcpy(&storage_.v4.sin_addr, v6.sin6_addr.s6_addr + 12, 4);
}

void Address::letPipeGo() {
  Pipe* pipe = this->pipe();
  if (pipe && pipe->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete pipe;
}

socklen_t Address::rawSize() const {
  if (const Pipe* pipe = this->pipe()) return pipe->size;
  if (family() == AF_INET) return sizeof(sockaddr_in);
  return family() == AF_INET6 ? sizeof(sockaddr_in6) : 0;
}

uint16_t Address::port() const {
  if (family() == AF_INET) return ntohs(storage_.v4.sin_port);
  if (family() == AF_INET6) return ntohs(storage_.v6.sin6_port);
  return 0;
}

std::string_view Address::ipBytes() const {
  if (family() == AF_INET) return {reinterpret_cast<const char*>(&storage_.v4.sin_addr), 4};
  if (family() == AF_INET6) return {reinterpret_cast<const char*>(&storage_.v6.sin6_addr), 16};
  return {};
}

std::string_view Address::writeIp(char* out) const {
  if (family() == AF_INET) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&storage_.v4.sin_addr);
    char* to = out;
    for (int i = 0; i < 4; ++i) {
      if (i > 0) *to++ = '.';
      to = std::to_chars(to, to + 3, bytes[i]).ptr;
    }
    return {out, static_cast<size_t>(to - out)};
  }
  if (family() == AF_INET6) {
    ::inet_ntop(AF_INET6, &storage_.v6.sin6_addr, out, INET6_ADDRSTRLEN);
    return {out, std::strlen(out)};
  }
  const Pipe* pipe = this->pipe();
  if (!pipe) return {};
  if (!pipe->internal.empty()) return pipe->internal;
  const char* path = pipe->address.sun_path;
  const size_t header = offsetof(sockaddr_un, sun_path);
  size_t length = pipe->size > header ? pipe->size - header : 0;
  if (length > 0 && path[0] != '\0') length = ::strnlen(path, length);
  length = std::min(length, kTextBytes);
  std::memcpy(out, path, length);
  if (length > 0 && out[0] == '\0') out[0] = '@';
  return {out, length};
}

std::string_view Address::writeText(char* out) const {
  if (!isIp()) return writeIp(out);
  char* to = out;
  if (family() == AF_INET6) *to++ = '[';
  to += writeIp(to).size();
  if (family() == AF_INET6) *to++ = ']';
  *to++ = ':';
  to = std::to_chars(to, to + 5, port()).ptr;
  return {out, static_cast<size_t>(to - out)};
}

std::string Address::ip() const {
  char buffer[kTextBytes];
  return std::string(writeIp(buffer));
}

std::string Address::text() const {
  char buffer[kTextBytes];
  return std::string(writeText(buffer));
}

bool Address::isAny() const {
  const std::string_view ip = ipBytes();
  return !ip.empty() && ip.find_first_not_of('\0') == std::string_view::npos;
}

bool Address::isLoopback() const {
  if (family() == AF_INET) return (ntohl(storage_.v4.sin_addr.s_addr) >> 24) == 127;
  return family() == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&storage_.v6.sin6_addr);
}

bool parseIp(std::string_view text, Address* out) {
  plan::Address address;
  if (text.size() > 64) return false;
  std::string host(text);
  const size_t colon = host.rfind(':');
  const bool bracketed = !host.empty() && host[0] == '[';
  const bool only_colon = colon != std::string::npos && host.find(':') == colon;
  if (bracketed || only_colon) {
    const size_t end = bracketed ? host.find(']') : colon;
    if (end == std::string::npos) return false;
    if (colon != std::string::npos && colon > end - (bracketed ? 0 : 1) &&
        colon + 1 < host.size()) {
      const char* last = host.data() + host.size();
      uint32_t port = 0;
      const auto parsed = std::from_chars(host.data() + colon + 1, last, port);
      if (parsed.ptr != last || port > 65535) return false;
      address.port = port;
    }
    host = host.substr(bracketed ? 1 : 0, end - (bracketed ? 1 : 0));
  }
  char bytes[16];
  if (::inet_pton(AF_INET, host.c_str(), bytes) == 1) {
    address.ip.assign(bytes, 4);
  } else if (::inet_pton(AF_INET6, host.c_str(), bytes) == 1) {
    address.ip.assign(bytes, 16);
  } else {
    return false;
  }
  *out = Address::fromPlan(address);
  return true;
}

bool Cidr::contains(const Address& address) const {
  const std::string_view ip = address.ipBytes();
  if (ip.size() != ip_.size() || ip.empty()) return false;
  const uint32_t bits = std::min<uint32_t>(bits_, static_cast<uint32_t>(ip.size() * 8));
  const size_t whole = bits / 8;
  if (std::memcmp(ip.data(), ip_.data(), whole) != 0) return false;
  if (bits % 8 == 0) return true;
  const uint8_t mask = static_cast<uint8_t>(0xff << (8 - bits % 8));
  return ((static_cast<uint8_t>(ip[whole]) ^ static_cast<uint8_t>(ip_[whole])) & mask) == 0;
}

}  // namespace fairlead::net
