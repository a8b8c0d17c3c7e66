// The PROXY protocol's header, versions 1 and 2: what a proxy before us says of the client. Pure.
// https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt
#pragma once

#include <cstdint>
#include <string_view>

#include "net/address.h"

namespace fairlead::filters {

enum class ProxyVersion : uint8_t { None, V1, V2 };

struct ProxyHeader {
  // Known before the header is whole, where bytes are enough to tell.
  ProxyVersion version = ProxyVersion::None;
  // False: the proxy speaks for itself, or does not know; the socket's addresses hold.
  bool has_addresses = false;
  net::Address source;
  net::Address destination;
  // Of what must be taken off the connection's bytes, without type-length-values.
  uint32_t size = 0;
  // Bytes of those values, which follow.
  uint32_t tlv_bytes = 0;
};

enum class ProxyHeaderState : uint8_t {
  // More bytes decide.
  Unfinished,
  // What has come is no header of any version.
  Absent,
  Malformed,
  Whole,
};

// `bytes`: all that has come so far.
ProxyHeaderState readProxyHeader(std::string_view bytes, ProxyHeader* header);

// Whether bytes that begin so may turn out to be a header of that version. Empty: they may.
bool mayBeProxyHeader(std::string_view bytes, ProxyVersion version);

struct Tlv {
  uint8_t type;
  std::string_view value;
};

// Takes the first one off `bytes`. False: there is none whole.
bool takeTlv(std::string_view* bytes, Tlv* tlv);

}  // namespace fairlead::filters
