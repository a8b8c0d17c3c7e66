#include "proxy/destination.h"

#include <string>

#include "base/json_tree.h"
#include "base/text.h"
#include "format/passed_metadata.h"
#include "net/filter_state.h"

namespace fairlead::proxy {

namespace {

constexpr std::string_view kDestinationState =
    "envoy.network.transport_socket.original_dst_address";

// An address needs its port.
std::optional<net::Address> parse(std::string_view text) {
  net::Address address;
  const bool has_port = text.rfind(':') != std::string_view::npos && !text.ends_with(']');
  const bool is_bare = text.find(':') != text.rfind(':') && !text.starts_with('[');
  const bool is_valid = has_port && !is_bare && net::parseIp(text, &address);
  return is_valid ? std::optional(address) : std::nullopt;
}

// A text, or the first of a list. False: it is neither.
bool takeText(const format::FilterMetadata::Value& value, std::string* text) {
  if (!value.is_json) {
    *text = value.text;
    return true;
  }
  if (!value.text.starts_with('[')) return false;
  Arena arena(512);
  const JsonNode* const list = parseJson(value.text, arena, JsonRepeats::LastWins);
  if (!list || !list->first || !list->first->isString()) return false;
  *text = list->first->text;
  return true;
}

bool findText(std::span<const format::SetMetadata> metadata, const plan::DestinationHosts& rules,
              std::string* text) {
  for (size_t i = metadata.size(); i > 0; --i) {
    const format::SetMetadata& set = metadata[i - 1];
    if (set.space != rules.metadata_namespace) continue;
    const auto* const value = set.metadata->find(rules.metadata_path);
    if (value) return takeText(*value, text);
  }
  return false;
}

bool findText(const net::Findings* findings, const plan::DestinationHosts& rules,
              std::string* text) {
  if (!findings) return false;
  const auto space = findings->metadata.find(rules.metadata_namespace);
  if (space != findings->metadata.end()) {
    const auto value = space->second.find(rules.metadata_path);
    if (value != space->second.end()) {
      *text = value->second;
      return true;
    }
  }
  return findings->passed_metadata && findText(findings->passed_metadata->all(), rules, text);
}

std::optional<net::Address> ofMetadata(const plan::DestinationHosts& rules,
                                       const RequestWords& request, const net::Findings* findings,
                                       stats::Shard<stats::Cluster>& stats) {
  if (rules.metadata_namespace.empty() || rules.metadata_path.empty()) return {};
  std::string text;
  if (!findText(request.metadata, rules, &text) && !findText(findings, rules, &text)) return {};
  std::optional<net::Address> address = parse(text);
  if (!address) stats.add(stats::Cluster::Counter::OriginalDstHostInvalid);
  return address;
}

// What is no address was never set, as in the real server.
std::optional<net::Address> ofState(const net::FilterState* state) {
  const std::string* const text = state ? state->find(kDestinationState) : nullptr;
  return text ? parse(*text) : std::nullopt;
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
                                            const RequestWords& request,
                                            const net::DownstreamConnection& client,
                                            stats::Shard<stats::Cluster>& stats) {
  const net::Findings* const findings = client.findings();
  std::optional<net::Address> address = ofState(request.state);
  if (!address) address = ofState(client.filterState());
  if (!address) address = ofMetadata(rules, request, findings, stats);
  if (!address) address = ofHeader(rules.header, request.headers, stats);
  if (!address && findings && findings->is_local_restored) address = client.local();
  if (!address || rules.port == 0 || !address->isIp()) return address;
  return net::Address::fromIp(address->ipBytes(), static_cast<uint16_t>(rules.port));
}

}  // namespace fairlead::proxy
