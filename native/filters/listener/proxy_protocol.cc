#include "filters/listener/proxy_protocol.h"

#include <algorithm>

#include "base/utf8.h"
#include "stats/filter_scopes.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

using ProxyProtocolCounter = stats::ProxyProtocol::Counter;
using VersionCounter = stats::ProxyProtocolVersion::Counter;
using ErrorCounter = stats::ProxyProtocolErrors::Counter;

constexpr const char* kOwnNamespace = "envoy.filters.listener.proxy_protocol";

// Each byte that is not part of UTF-8 becomes an exclamation mark, as in the real server.
std::string sanitized(std::string_view value) {
  if (isUtf8(value)) return std::string(value);
  std::string text;
  for (size_t at = 0; at < value.size();) {
    const auto byte = static_cast<uint8_t>(value[at]);
    const size_t size = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    const std::string_view letter = value.substr(at, size);
    const bool is_good = letter.size() == size && isUtf8(letter);
    text += is_good ? letter : std::string_view("!");
    at += is_good ? size : 1;
  }
  return text;
}

std::string base64(std::string_view value) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < value.size(); at += 3) {
    const size_t count = std::min<size_t>(3, value.size() - at);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < count ? static_cast<uint8_t>(value[at + i]) : 0);
    }
    for (size_t i = 0; i < 4; ++i) {
      text.push_back(i <= count ? kLetters[bits >> (18 - 6 * i) & 63] : '=');
    }
  }
  return text;
}

}  // namespace

class ProxyProtocol final : public net::ListenerFilter {
 public:
  ProxyProtocol(const ProxyProtocolConfig& config, unsigned worker)
      : config_(config), shard_(worker + 1) {}

  Verdict look(net::EarlySocket& socket) override {
    if (!has_header_) {
      const Verdict verdict = readHeader(socket);
      if (!has_header_) return verdict;
    }
    return readTlvs(socket);
  }

 private:
  // Continue: there is none, and none is needed.
  Verdict readHeader(net::EarlySocket& socket) {
    const std::string_view bytes = socket.peek();
    if (config_.plan_.allow_without && !mayBeAllowed(bytes)) {
      config_.stats_->shard(shard_)->add(ProxyProtocolCounter::NotFoundAllowed);
      return Verdict::Continue;
    }
    const ProxyHeaderState state = readProxyHeader(bytes, &header_);
    if (isDisallowed(header_.version)) {
      versionStats().add(VersionCounter::Found);
      versionStats().add(VersionCounter::Disallowed);
      return Verdict::Refuse;
    }
    switch (state) {
      case ProxyHeaderState::Unfinished:
        return Verdict::Wait;
      case ProxyHeaderState::Absent:
        config_.errors_->shard(shard_)->add(ErrorCounter::DownstreamCxProxyProtoError);
        config_.stats_->shard(shard_)->add(ProxyProtocolCounter::NotFoundDisallowed);
        return Verdict::Refuse;
      case ProxyHeaderState::Malformed:
        return refuse();
      case ProxyHeaderState::Whole:
        break;
    }
    has_header_ = socket.take(header_.size);
    return has_header_ ? Verdict::Continue : refuse();
  }

  // They are taken as they come: a socket's buffer may be too small for all of them.
  Verdict readTlvs(net::EarlySocket& socket) {
    while (tlvs_read_ < header_.tlv_bytes) {
      const std::string_view bytes = socket.peek();
      if (bytes.empty()) return Verdict::Wait;
      const size_t part = std::min<size_t>(bytes.size(), header_.tlv_bytes - tlvs_read_);
      if (header_.has_addresses) tlvs_.append(bytes.substr(0, part));
      if (!socket.take(part)) return refuse();
      tlvs_read_ += part;
    }
    if (!keepTlvs(socket.findings())) return refuse();
    pretend(socket);
    versionStats().add(VersionCounter::Found);
    return Verdict::Continue;
  }

  bool keepTlvs(net::Findings& findings) {
    std::string_view left = tlvs_;
    Tlv tlv;
    while (!left.empty()) {
      if (!takeTlv(&left, &tlv)) return false;
      if (const plan::TlvRule* rule = config_.rules_[tlv.type]) keep(*rule, tlv.value, findings);
      if (isPassedOn(tlv.type)) {
        const size_t size = 3 + tlv.value.size();
        findings.passed_tlvs.append(tlvs_, tlvs_.size() - left.size() - size, size);
      }
    }
    return true;
  }

  void keep(const plan::TlvRule& rule, std::string_view value, net::Findings& findings) {
    std::string text = rule.base64 ? base64(value) : sanitized(value);
    if (config_.plan_.to_filter_state) {
      findings.tlvs.insert_or_assign(rule.key, std::move(text));
      return;
    }
    const std::string space(rule.metadata_namespace.empty() ? kOwnNamespace
                                                            : rule.metadata_namespace);
    findings.metadata[space].emplace(rule.key, std::move(text));
    findings.raw_metadata[space].emplace(rule.key, value);
  }

  void pretend(net::EarlySocket& socket) {
    if (!header_.has_addresses) return;
    net::AcceptedSocket& accepted = socket.socket();
    accepted.findings->was_proxied = true;
    accepted.remote = header_.source;
    if (accepted.local == header_.destination) return;
    accepted.local = header_.destination;
    accepted.findings->is_local_restored = true;
  }

  Verdict refuse() {
    config_.errors_->shard(shard_)->add(ErrorCounter::DownstreamCxProxyProtoError);
    if (header_.version != ProxyVersion::None) versionStats().add(VersionCounter::Error);
    return Verdict::Refuse;
  }

  bool isPassedOn(uint8_t type) const {
    return config_.plan_.passes_all_tlvs ||
           config_.plan_.passed_tlv_types.find(static_cast<char>(type)) != std::string::npos;
  }
  bool isDisallowed(ProxyVersion version) const {
    return (version == ProxyVersion::V1 && config_.plan_.disallow_v1) ||
           (version == ProxyVersion::V2 && config_.plan_.disallow_v2);
  }
  bool mayBeAllowed(std::string_view bytes) const {
    const auto may_be = [&](ProxyVersion version) {
      return !isDisallowed(version) && mayBeProxyHeader(bytes, version);
    };
    return may_be(ProxyVersion::V1) || may_be(ProxyVersion::V2);
  }
  stats::Shard<stats::ProxyProtocolVersion>& versionStats() {
    const auto& block = header_.version == ProxyVersion::V1 ? config_.v1_stats_ : config_.v2_stats_;
    return *block->shard(shard_);
  }

  const ProxyProtocolConfig& config_;
  const size_t shard_;
  ProxyHeader header_;
  bool has_header_ = false;
  std::string tlvs_;
  size_t tlvs_read_ = 0;
};

ProxyProtocolConfig::ProxyProtocolConfig(const plan::ProxyProtocol& plan, stats::Registry& registry)
    : plan_(plan),
      stats_(registry.create<stats::ProxyProtocol>(stats::proxyProtocolScope(plan.stat_prefix))),
      v1_stats_(registry.create<stats::ProxyProtocolVersion>(
          stats::proxyProtocolVersionScope(plan.stat_prefix, 1))),
      v2_stats_(registry.create<stats::ProxyProtocolVersion>(
          stats::proxyProtocolVersionScope(plan.stat_prefix, 2))),
      errors_(registry.create<stats::ProxyProtocolErrors>(stats::plainScope(""))) {
  for (const plan::TlvRule& rule : plan_.rules) rules_[rule.type & 0xff] = &rule;
}

std::unique_ptr<net::ListenerFilter> ProxyProtocolConfig::make(unsigned worker) const {
  return std::make_unique<ProxyProtocol>(*this, worker);
}

}  // namespace fairlead::filters
