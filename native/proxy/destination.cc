#include "proxy/destination.h"

#include "base/text.h"

namespace fairlead::proxy {

namespace {

// An address needs its port.
std::optional<net::Address> parse(std::string_view text) {
  net::Address address;
  const bool has_port = text.rfind(':') != std::string_view::npos && !text.ends_with(']');
  const bool is_bare = text.find(':') != text.rfind(':') && !text.starts_with('[');
  const bool is_valid = has_port && !is_bare && net::parseIp(text, &address);
  return is_valid ? std::optional(address) : std::nullopt;
}

std::optional<net::Address> ofMetadata(const plan::DestinationHosts& rules,
                                       const net::Findings* findings) {
  if (rules.metadata_namespace.empty() || rules.metadata_path.empty() || !findings) return {};
  const auto space = findings->metadata.find(rules.metadata_namespace);
  if (space == findings->metadata.end()) return {};
  const auto value = space->second.find(rules.metadata_path[0]);
  return value == space->second.end() ? std::nullopt : parse(value->second);
}

std::optional<net::Address> ofHeader(const std::string& name, const http::HeaderMap* headers,
                                     stats::Shard<stats::Cluster>& stats) {
  if (name.empty() || !headers) return {};
  for (const http::HeaderEntry& entry : *headers) {
    if (!equalsIgnoreCase(entry.name(), name)) continue;
    std::optional<net::Address> address = parse(entry.value());
    if (!address) stats.add(stats::Cluster::Counter::OriginalDstHostInvalid);
    return address;
  }
  return {};
}

}  // namespace

std::optional<net::Address> findDestination(const plan::DestinationHosts& rules,
                                            const http::HeaderMap* headers,
                                            const net::DownstreamConnection& client,
                                            stats::Shard<stats::Cluster>& stats) {
  const net::Findings* const findings = client.findings();
  std::optional<net::Address> address = ofMetadata(rules, findings);
  if (!address) address = ofHeader(rules.header, headers, stats);
  if (!address && findings && findings->is_local_restored) address = client.local();
  if (!address || rules.port == 0 || !address->isIp()) return address;
  return net::Address::fromIp(address->ipBytes(), static_cast<uint16_t>(rules.port));
}

}  // namespace fairlead::proxy
