#include "proxy/proxy_status.h"

#include "base/text.h"

namespace fairlead::proxy {

namespace {

using Flag = format::ResponseFlag;

struct Word {
  Flag flag;
  std::string_view error;
  // 0: the answer keeps its own.
  uint16_t status;
};

// In the real server's order: the first that is set counts.
constexpr Word kWords[] = {
    {Flag::FailedLocalHealthCheck, "destination_unavailable", 503},
    {Flag::NoHealthyUpstream, "destination_unavailable", 503},
    {Flag::UpstreamRequestTimeout, "http_response_timeout", 504},
    {Flag::LocalReset, "connection_timeout", 504},
    {Flag::UpstreamRemoteReset, "connection_terminated", 502},
    {Flag::UpstreamConnectionFailure, "connection_refused", 502},
    {Flag::UpstreamConnectionTermination, "connection_terminated", 502},
    {Flag::UpstreamOverflow, "connection_limit_reached", 503},
    {Flag::NoRouteFound, "destination_not_found", 500},
    {Flag::RateLimited, "connection_limit_reached", 503},
    {Flag::RateLimitServiceError, "connection_limit_reached", 503},
    {Flag::UpstreamRetryLimitExceeded, "destination_unavailable", 503},
    {Flag::StreamIdleTimeout, "http_response_timeout", 504},
    {Flag::InvalidEnvoyRequestHeaders, "http_request_error", 400},
    {Flag::DownstreamProtocolError, "http_request_error", 400},
    {Flag::UpstreamMaxStreamDurationReached, "http_response_timeout", 504},
    {Flag::NoFilterConfigFound, "proxy_configuration_error", 500},
    {Flag::UpstreamProtocolError, "http_protocol_error", 502},
    {Flag::NoClusterFound, "destination_unavailable", 503},
    {Flag::DnsResolutionFailed, "dns_error", 502},
};

}  // namespace

std::string proxyStatusOf(const plan::ProxyStatus& plan, const format::ResponseFlags& flags,
                          std::string_view details, uint16_t* status) {
  const Word* found = nullptr;
  for (const Word& word : kWords) {
    if (!found && flags.has(word.flag)) found = &word;
  }
  if (!found) return {};
  std::string text = plan.proxy_name;
  text.append("; error=").append(found->error);
  if (!plan.removes_details) {
    text.append("; details=\"");
    for (const char c : details) {
      // That there are details which are empty.
      if (c == '\0') continue;
      if (c == '"' || c == '\\') text.push_back('\\');
      const auto byte = static_cast<unsigned char>(c);
      text.push_back(byte <= ' ' || byte == 0x7f ? '_' : c);
    }
    if (!plan.removes_flags) {
      text.append("; ");
      flags.appendTo(&text, false);
    }
    text.push_back('"');
  }
  if (plan.sets_status && found->status != 0) *status = found->status;
  return text;
}

}  // namespace fairlead::proxy
