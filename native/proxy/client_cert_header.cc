#include "proxy/client_cert_header.h"

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/line_ends.h"
#include "http/query.h"

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
  if (wanted.issuer) addQuoted(tls, "Issuer=", TlsValue::PeerIssuer, true, &out);
  // An authority may have signed any name.
  blankLineEnds(&out);
  return out;
}

// ---- as JSON ----

// Members of an object. What has no value is left out.
class JsonDetails {
 public:
  explicit JsonDetails(const net::TlsInfo& tls) : tls_(tls) {}

  void add(std::string_view key, TlsValue value) {
    std::string text;
    if (tls_.append(value, &text) && !text.empty()) addText(key, text);
  }
  // As PEM is; by the other form's rules it would be as in a URL.
  void addPem(std::string_view key, TlsValue value) {
    std::string text;
    if (tls_.append(value, &text)) addText(key, http::percentDecoded(text));
  }
  void addNames(std::string_view key, TlsValue value) {
    std::string text;
    if (!tls_.append(value, &text) || text.empty()) return;
    std::vector<std::string_view> names;
    std::string_view rest = text;
    for (;;) {
      const size_t comma = rest.find(',');
      names.push_back(rest.substr(0, comma));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
    addList(key, names);
  }
  // The first of them alone.
  void addFirst(std::string_view key, TlsValue value) {
    std::string text;
    if (!tls_.append(value, &text)) return;
    addList(key, {std::string_view(text).substr(0, text.find(','))});
  }
  void addChain(std::string_view key, TlsValue value) {
    constexpr std::string_view kEnd = "-----END CERTIFICATE-----\n";
    std::string text;
    if (!tls_.append(value, &text)) return;
    const std::string pem = http::percentDecoded(text);
    std::vector<std::string_view> certificates;
    std::string_view rest = pem;
    while (!rest.empty()) {
      const size_t end = rest.find(kEnd);
      const size_t size = end == std::string_view::npos ? rest.size() : end + kEnd.size();
      certificates.push_back(rest.substr(0, size));
      rest.remove_prefix(size);
    }
    addList(key, certificates);
  }

  std::string take() { return "{" + std::move(members_) + "}"; }

 private:
  void begin(std::string_view key) {
    if (!members_.empty()) members_.push_back(',');
    members_.append(1, '"').append(key).append("\":");
  }
  void addText(std::string_view key, std::string_view text) {
    begin(key);
    appendJsonString(&members_, text);
  }
  void addList(std::string_view key, const std::vector<std::string_view>& items) {
    begin(key);
    char separator = '[';
    for (const std::string_view item : items) {
      members_.push_back(std::exchange(separator, ','));
      appendJsonString(&members_, item);
    }
    members_.push_back(']');
  }

  const net::TlsInfo& tls_;
  std::string members_;
};

std::string jsonOf(const net::TlsInfo& tls, const plan::ClientCertDetails& wanted) {
  JsonDetails details(tls);
  details.addFirst("by", TlsValue::LocalUriNames);
  details.add("hash", TlsValue::PeerSha256);
  if (wanted.cert) details.addPem("cert", TlsValue::PeerCertificate);
  if (wanted.chain) details.addChain("chain", TlsValue::PeerChainCertificates);
  if (wanted.subject) details.add("subject", TlsValue::PeerSubject);
  if (wanted.uri) details.addNames("uri", TlsValue::PeerUriNames);
  if (wanted.dns) details.addNames("dns", TlsValue::PeerDnsNames);
  if (wanted.issuer) details.add("issuer", TlsValue::PeerIssuer);
  return details.take();
}

// Behind what proxies before this one have said, in the form that they have said it in.
void appendDetails(const net::TlsInfo& tls, const plan::ClientCertDetails& wanted,
                   std::string* value) {
  const bool is_json = wanted.form == plan::ClientCertDetails::Form::Json;
  if (is_json && value->empty()) {
    value->append(1, '[').append(jsonOf(tls, wanted)).append(1, ']');
  } else if (is_json && value->starts_with('[') && value->ends_with(']')) {
    value->back() = ',';
    value->append(jsonOf(tls, wanted)).append(1, ']');
  } else {
    value->append(value->empty() ? "" : ",").append(detailsOf(tls, wanted));
  }
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
  appendDetails(*tls, wanted, &value);
  headers.add(kId, "x-forwarded-client-cert", arena.join(value, "", ""));
}

}  // namespace fairlead::proxy
