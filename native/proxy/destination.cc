#include "proxy/destination.h"

#include <string>

#include "base/json_tree.h"
#include "base/text.h"
#include "format/passed_metadata.h"
#include "net/state_value.h"

namespace fairlead::proxy {

namespace {

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
  std::optional<net::Address> address = net::parseAddressWithPort(text);
  if (!address) stats.add(stats::Cluster::Counter::OriginalDstHostInvalid);
  return address;
}

std::optional<net::Address> ofHeader(const std::string& name, const http::HeaderMap* headers,
                                     stats::Shard<stats::Cluster>& stats) {
  if (name.empty() || !headers) return {};
  for (const http::HeaderEntry& entry : *headers) {
    if (!equalsIgnoreCase(entry.name(), name)) continue;
    std::optional<net::Address> address = net::parseAddressWithPort(entry.value());
    if (!address) stats.add(stats::Cluster::Counter::OriginalDstHostInvalid);
    return address;
  }
  return {};
}

}  // namespace

std::optional<net::Address> findDestination(const plan::DestinationHosts& rules,
                                            const RequestWords& request,
                                            const net::DownstreamConnection* client,
                                            stats::Shard<stats::Cluster>& stats) {
  const net::Findings* const findings = client ? client->findings() : nullptr;
  std::optional<net::Address> address =
      net::destinationKept(request.state, client ? client->filterState() : nullptr);
  if (!address) address = ofMetadata(rules, request, findings, stats);
  if (!address) address = ofHeader(rules.header, request.headers, stats);
  if (!address && findings && findings->is_local_restored) address = client->local();
  if (!address || !rules.port || !address->isIp()) return address;
  return net::Address::fromIp(address->ipBytes(), static_cast<uint16_t>(*rules.port));
}

}  // namespace fairlead::proxy
