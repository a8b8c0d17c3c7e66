// What certificates say of whom they are for. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tls/openssl.h"

namespace fairlead::tls {

// As RFC 2253 writes it: "CN=server,O=kit". Empty: it has no parts.
std::string subjectText(const X509* certificate);
std::string issuerText(const X509* certificate);
// In lower-case hex, without leading zeros.
std::string serialText(const X509* certificate);
// The last common name of the subject; empty: there is none.
std::string commonName(const X509* certificate);

// An alternative name. `oid`: of other names.
struct SubjectName {
  int type;  // GEN_DNS and its like.
  std::string value;
  std::string oid = {};
};
std::vector<SubjectName> subjectNames(const X509* certificate);

// The digest of its DER.
std::string digestOf(const X509* certificate, const EVP_MD* digest);
// The SHA-256 of its public key's DER.
std::string keyDigestOf(const X509* certificate);

std::optional<int64_t> secondsOf(const ASN1_TIME* time);

// Whether a certificate's DNS name, perhaps with a wildcard as its first label, is for `name`.
// Capitals do not matter.
bool dnsNameFits(std::string_view pattern, std::string_view name);

}  // namespace fairlead::tls
