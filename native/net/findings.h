// What listener filters found out about a connection, and what it was before they changed it. Only
// connections of listeners with such filters have one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "net/address.h"
#include "net/original_source.h"

namespace fairlead::format {
class PassedMetadata;
}  // namespace fairlead::format

namespace fairlead::net {

class FilterState;

struct Findings {
  // The socket's own, whatever a proxy before us says.
  Address direct_remote;
  Address direct_local;
  // The local address is where the client wanted to go, not where it came to.
  bool is_local_restored = false;
  // Another listener accepted it: it goes no further.
  bool was_handed_on = false;
  uint64_t accepted_at_us = 0;
  // In lower case; empty: none is known.
  std::string server_name;
  // Empty: nobody looked; raw bytes.
  std::string transport_protocol;
  // Why its first bytes were no TLS; empty: they were, or nobody looked.
  std::string transport_failure;
  // What the client offers, what it prefers first.
  std::vector<std::string> application_protocols;
  // Fingerprints of the client; empty: nobody was asked for them.
  std::string ja3;
  std::string ja4;
  using Values = std::map<std::string, std::string, std::less<>>;
  using Metadata = std::map<std::string, Values, std::less<>>;
  // Dynamic metadata of the connection, by namespace and key.
  Metadata metadata;
  // Of these, what the PROXY protocol said, as the bytes came.
  Metadata raw_metadata;
  // The filter state "envoy.network.proxy_protocol.tlv".
  Values tlvs;
  // The addresses are what the PROXY protocol said.
  bool was_proxied = false;
  // Type-length-values of the PROXY protocol that hosts may be told, as they came.
  std::string passed_tlvs;
  // What filters keep with the connection, under names; null: nothing.
  std::shared_ptr<FilterState> filter_state;
  // What hosts are connected to from; null: this machine's own address.
  SharedSource source;
  // Of a connection from within: what its host and cluster tell; null: nothing.
  std::shared_ptr<const format::PassedMetadata> passed_metadata;
};

}  // namespace fairlead::net
