#include "proxy/client_cert_header.h"

#include <string>

namespace fairlead::proxy {

namespace {

using net::TlsValue;
using ForwardMode = plan::HttpConnectionManager::ForwardClientCert;

// "Hash=…" for the one value there is.
void addDetail(const net::TlsInfo& tls, std::string_view key, TlsValue value, std::string* out) {
  std::string text;
  if (!tls.append(value, &text)) return;
  if (!out->empty()) out->push_back(';');
  out->append(key).append(text);
}

void addQuoted(const net::TlsInfo& tls, std::string_view key, TlsValue value, bool may_be_empty,
               std::string* out) {
  std::string text;
  if (!tls.append(value, &text) && !may_be_empty) return;
  if (!out->empty()) out->push_back(';');
  out->append(key).append("\"").append(text).append("\"");
}

// One for each name.
void addNameDetails(const net::TlsInfo& tls, std::string_view key, TlsValue value,
                    bool may_be_empty, std::string* out) {
  std::string text;
  if (!tls.append(value, &text) && !may_be_empty) return;
  std::string_view rest = text;
  for (;;) {
    const size_t comma = rest.find(',');
    if (!out->empty()) out->push_back(';');
    out->append(key).append(rest.substr(0, comma));
    if (comma == std::string_view::npos) return;
    rest.remove_prefix(comma + 1);
  }
}

std::string detailsOf(const net::TlsInfo& tls, const plan::ClientCertDetails& wanted) {
  std::string out;
  std::string own;
  if (tls.append(TlsValue::LocalUriNames, &own)) {
    out.append("By=").append(own, 0, own.find(','));
  }
  addDetail(tls, "Hash=", TlsValue::PeerSha256, &out);
  if (wanted.cert) addQuoted(tls, "Cert=", TlsValue::PeerCertificate, false, &out);
  if (wanted.chain) addQuoted(tls, "Chain=", TlsValue::PeerChainCertificates, false, &out);
  if (wanted.subject) addQuoted(tls, "Subject=", TlsValue::PeerSubject, true, &out);
  if (wanted.uri) addNameDetails(tls, "URI=", TlsValue::PeerUriNames, true, &out);
  if (wanted.dns) addNameDetails(tls, "DNS=", TlsValue::PeerDnsNames, false, &out);
  return out;
}

}  // namespace

ClientCertForwarding ClientCertTree::find(const match::Facts& facts,
                                          ClientCertForwarding otherwise) const {
  const int found = tree.find(facts);
  if (found == match::MatchTree::kNone) return otherwise;
  const auto number = static_cast<size_t>(found);
  if (number >= actions.size()) return otherwise;
  const plan::ClientCertAction& action = actions[number];
  return {static_cast<ForwardMode>(action.forward), action.details.get()};
}

void forwardClientCert(http::HeaderMap& headers, const ClientCertForwarding& forwarding,
                       const net::TlsInfo* tls, Arena& arena) {
  constexpr http::HeaderId kId = http::HeaderId::XForwardedClientCert;
  const ForwardMode mode = forwarding.mode;
  if (mode == ForwardMode::AlwaysForwardOnly) return;
  const bool is_mutual = tls && tls->isPeerPresented();
  if (is_mutual && mode == ForwardMode::ForwardOnly) return;
  std::string value;
  for (http::HeaderEntry& entry : headers) {
    if (entry.id != kId) continue;
    if (is_mutual && mode == ForwardMode::AppendForward) {
      value.append(value.empty() ? "" : ",").append(entry.value());
    }
    entry.remove();
  }
  if (!is_mutual || mode == ForwardMode::Sanitize) return;
  const plan::ClientCertDetails wanted =
      forwarding.details ? *forwarding.details : plan::ClientCertDetails();
  value.append(value.empty() ? "" : ",").append(detailsOf(*tls, wanted));
  headers.add(kId, "x-forwarded-client-cert", arena.join(value, "", ""));
}

}  // namespace fairlead::proxy
