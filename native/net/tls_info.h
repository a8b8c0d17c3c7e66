// What is known of a connection that speaks TLS, for logs, headers and rules. It may outlive the
// connection that it is of, on its worker's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::net {

// What can be said as text.
enum class TlsValue : uint8_t {
  Version,
  Cipher,
  Group,
  SessionId,
  ServerName,
  // Of the peer's certificate.
  PeerSubject,
  PeerIssuer,
  PeerSerial,
  PeerUriNames,
  PeerDnsNames,
  PeerIpNames,
  PeerEmailNames,
  PeerOtherNames,
  PeerSha256,
  PeerSha1,
  // In PEM, with all that a URL could not hold as %XX.
  PeerCertificate,
  // Of whose certificate has signed it, in the chain that was found to be good.
  PeerIssuerSha256,
  PeerIssuerSerial,
  // Of the peer's whole chain, from its own certificate on.
  PeerChainCertificates,
  PeerChainSha256,
  PeerChainSha1,
  PeerChainSerials,
  // Of our certificate.
  LocalSubject,
  LocalUriNames,
  LocalDnsNames,
  LocalIpNames,
  LocalEmailNames,
  LocalOtherNames,
};

class TlsInfo {
 public:
  virtual ~TlsInfo() = default;

  // Appends it; several values with commas between them. False: there is none.
  virtual bool append(TlsValue value, std::string* out) const = 0;
  // The peer's names of a kind, URIs or DNS names, each by itself: one may hold commas.
  virtual std::vector<std::string> peerNames(TlsValue value) const { return {}; }
  // Of the cipher suite, as TLS has it; 0: none is known.
  virtual uint16_t cipherNumber() const { return 0; }
  // When the peer's certificate begins and ends to be good, in seconds since 1970.
  virtual std::optional<int64_t> peerValidFrom() const = 0;
  virtual std::optional<int64_t> peerValidTo() const = 0;
  // The peer has shown a certificate; it was found to be good.
  virtual bool isPeerPresented() const = 0;
  virtual bool isPeerValidated() const = 0;
  // The application protocol that was agreed on; empty: none.
  virtual std::string_view protocol() const = 0;
  // Why it failed, as access logs say it; empty: nothing is known. The text is never freed.
  virtual std::string_view failure() const = 0;
};

using SharedTlsInfo = std::shared_ptr<const TlsInfo>;

}  // namespace fairlead::net
