#include "format/tls_values.h"

namespace fairlead::format {

namespace {

struct TlsName {
  std::string_view name;
  net::TlsValue value;
};

using TlsKind = net::TlsValue;
constexpr TlsName kTlsNames[] = {
    {"TLS_VERSION", TlsKind::Version},
    {"TLS_CIPHER", TlsKind::Cipher},
    {"TLS_GROUP", TlsKind::Group},
    {"TLS_SESSION_ID", TlsKind::SessionId},
    {"SERVER_NAME", TlsKind::ServerName},
    {"PEER_SUBJECT", TlsKind::PeerSubject},
    {"PEER_ISSUER", TlsKind::PeerIssuer},
    {"PEER_SERIAL", TlsKind::PeerSerial},
    {"PEER_URI_SAN", TlsKind::PeerUriNames},
    {"PEER_DNS_SAN", TlsKind::PeerDnsNames},
    {"PEER_IP_SAN", TlsKind::PeerIpNames},
    {"PEER_EMAIL_SAN", TlsKind::PeerEmailNames},
    {"PEER_OTHERNAME_SAN", TlsKind::PeerOtherNames},
    {"PEER_FINGERPRINT_256", TlsKind::PeerSha256},
    {"PEER_FINGERPRINT_1", TlsKind::PeerSha1},
    {"PEER_CERT", TlsKind::PeerCertificate},
    {"PEER_ISSUER_FINGERPRINT_256", TlsKind::PeerIssuerSha256},
    {"PEER_ISSUER_SERIAL", TlsKind::PeerIssuerSerial},
    {"PEER_CHAIN_FINGERPRINTS_256", TlsKind::PeerChainSha256},
    {"PEER_CHAIN_FINGERPRINTS_1", TlsKind::PeerChainSha1},
    {"PEER_CHAIN_SERIALS", TlsKind::PeerChainSerials},
    {"LOCAL_SUBJECT", TlsKind::LocalSubject},
    {"LOCAL_URI_SAN", TlsKind::LocalUriNames},
    {"LOCAL_DNS_SAN", TlsKind::LocalDnsNames},
    {"LOCAL_IP_SAN", TlsKind::LocalIpNames},
    {"LOCAL_EMAIL_SAN", TlsKind::LocalEmailNames},
    {"LOCAL_OTHERNAME_SAN", TlsKind::LocalOtherNames},
};

}  // namespace

std::optional<net::TlsValue> parseTlsValue(std::string_view name) {
  for (const TlsName& known : kTlsNames) {
    if (known.name == name) return known.value;
  }
  return std::nullopt;
}

}  // namespace fairlead::format
