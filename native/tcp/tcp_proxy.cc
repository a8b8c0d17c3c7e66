#include "tcp/tcp_proxy.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/wall_clock.h"
#include "format/origin.h"
#include "tcp/session.h"

namespace fairlead::tcp {

namespace {

using Merge = plan::TcpProxy::TlvMerge;
constexpr size_t kTlvHeadBytes = 3;
constexpr size_t kMaxTlvBytes = 65'535;

void appendTlv(uint8_t type, std::string_view value, std::string* out) {
  value = value.substr(0, kMaxTlvBytes);
  out->push_back(static_cast<char>(type));
  out->push_back(static_cast<char>(value.size() >> 8));
  out->push_back(static_cast<char>(value.size()));
  out->append(value);
}

// Those of the client's own proxy, as they came, without those of types that are added.
std::string without(std::string_view tlvs, const std::vector<plan::AddedTlv>& added) {
  std::string left;
  while (tlvs.size() >= kTlvHeadBytes) {
    const auto byte = [&](size_t at) { return static_cast<uint8_t>(tlvs[at]); };
    const std::string_view whole = tlvs.substr(0, kTlvHeadBytes + (byte(1) << 8 | byte(2)));
    const bool is_added = std::any_of(added.begin(), added.end(), [&](const plan::AddedTlv& one) {
      return static_cast<uint8_t>(one.type) == byte(0);
    });
    if (!is_added) left.append(whole);
    tlvs.remove_prefix(whole.size());
  }
  return left;
}

}  // namespace

net::SharedProxiedClient TcpProxyConfig::proxied(const net::DownstreamConnection& client,
                                                 const format::FormatContext& context) const {
  net::SharedProxiedClient plain = client.asProxied();
  if (plan.proxy_tlvs.empty()) return plain;
  const bool is_proxied = client.findings() && client.findings()->was_proxied;
  if (is_proxied && plan.proxy_tlv_merge == Merge::AddIfAbsent) return plain;
  // As the real server: those that are always the same come first.
  std::string added;
  for (const plan::AddedTlv& one : plan.proxy_tlvs) {
    if (!one.format) appendTlv(static_cast<uint8_t>(one.type), one.value, &added);
  }
  auto format = tlv_formats.begin();
  for (const plan::AddedTlv& one : plan.proxy_tlvs) {
    if (!one.format) continue;
    std::string text;
    (format++)->appendLine(context, &text);
    appendTlv(static_cast<uint8_t>(one.type), text, &added);
  }
  net::ProxiedClient told = *plain;
  if (is_proxied && plan.proxy_tlv_merge == Merge::Append) {
    told.tlvs.append(added);
  } else {
    told.tlvs = added + without(told.tlvs, plan.proxy_tlvs);
  }
  return std::make_shared<const net::ProxiedClient>(std::move(told));
}

net::DownstreamConnection* TcpProxy::accept(net::AcceptedSocket socket,
                                            net::ConnectionAccounts& accounts) {
  // Owns itself from here on; may have ended already when start() returns.
  auto* session = new Session(*this, std::move(socket), accounts);
  return session->start() ? session : nullptr;
}

void TcpProxy::onRefusedEnded(const net::DownstreamConnection& connection) {
  if (config_->access_logs.empty()) return;
  format::FormatContext context;
  context.duration_us = net::Loop::readClockMicros() - connection.startedAtMicros();
  context.start_time_us = wallClockMicros() - context.duration_us;
  format::describeConnection(connection, &context);
  connection.describe(&context);
  context.log_type = format::LogType::TcpConnectionEnd;
  context.is_complete = true;
  for (const auto& log : config_->access_logs) {
    log->write(this->context().worker, context, this->context().random.next());
  }
}

void TcpProxy::describeRefused(format::FormatContext* context) const {
  context->upstream_close = format::CloseType::Normal;
  context->filter_chain_name = config_->filter_chain_name;
}

const TcpProxyConfig::Target& TcpProxy::chooseTarget() {
  const std::vector<TcpProxyConfig::Target>& targets = config_->targets;
  if (targets.size() == 1) return targets[0];
  uint64_t point = context().random.below(config_->plan.total_weight);
  for (size_t i = 0; i < targets.size(); ++i) {
    const uint64_t weight = config_->plan.clusters[i].weight;
    if (point < weight) return targets[i];
    point -= weight;
  }
  return targets.back();
}

}  // namespace fairlead::tcp
