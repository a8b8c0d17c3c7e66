#include "tls/counts.h"

#include <string>
#include <unordered_map>

namespace fairlead::tls {

namespace {

// Which counter has the name; those that the catalogue does not know are not counted.
class CounterNames {
 public:
  CounterNames() {
    const auto& counters = stats::Ssl::kCounters;
    for (size_t i = 0; i < counters.size(); ++i) places_.emplace(counters[i].name, i);
  }
  void count(const char* kind, std::string_view name, stats::Shard<stats::Ssl>& stats) const {
    if (name.empty()) return;
    const auto found = places_.find(std::string(kind).append(name));
    if (found != places_.end()) stats.addAt(found->second, 1);
  }

 private:
  std::unordered_map<std::string, size_t> places_;
};

struct Signature {
  int type;
  int digest;
  const char* name;
};
constexpr Signature kSignatures[] = {
    {EVP_PKEY_EC, NID_sha256, "ecdsa_secp256r1_sha256"},
    {EVP_PKEY_EC, NID_sha384, "ecdsa_secp384r1_sha384"},
    {EVP_PKEY_EC, NID_sha512, "ecdsa_secp521r1_sha512"},
    {EVP_PKEY_RSA_PSS, NID_sha256, "rsa_pss_rsae_sha256"},
    {EVP_PKEY_RSA_PSS, NID_sha384, "rsa_pss_rsae_sha384"},
    {EVP_PKEY_RSA_PSS, NID_sha512, "rsa_pss_rsae_sha512"},
    {EVP_PKEY_RSA, NID_sha1, "rsa_pkcs1_sha1"},
    {EVP_PKEY_RSA, NID_sha256, "rsa_pkcs1_sha256"},
    {EVP_PKEY_RSA, NID_sha384, "rsa_pkcs1_sha384"},
    {EVP_PKEY_RSA, NID_sha512, "rsa_pkcs1_sha512"},
    {EVP_PKEY_ED25519, NID_undef, "ed25519"},
};

// That of the peer.
std::string_view signatureName(SSL* ssl) {
  int type = NID_undef;
  int digest = NID_undef;
  if (SSL_get_peer_signature_type_nid(ssl, &type) != 1) return {};
  SSL_get_peer_signature_nid(ssl, &digest);
  for (const Signature& known : kSignatures) {
    if (known.type == type && (known.digest == digest || known.digest == NID_undef)) {
      return known.name;
    }
  }
  return {};
}

// A session that goes on keeps what its first handshake was signed with; clients keep sessions.
std::string_view keptSignatureName(SSL* ssl) {
  static const int index = SSL_SESSION_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  SSL_SESSION* const session = SSL_get_session(ssl);
  if (!session) return {};
  if (SSL_session_reused(ssl)) {
    const void* const kept = SSL_SESSION_get_ex_data(session, index);
    return kept ? static_cast<const char*>(kept) : std::string_view();
  }
  const std::string_view name = signatureName(ssl);
  if (!name.empty()) SSL_SESSION_set_ex_data(session, index, const_cast<char*>(name.data()));
  return name;
}

}  // namespace

std::string_view groupName(SSL* ssl) {
  switch (SSL_get_negotiated_group(ssl)) {
    case NID_X9_62_prime256v1:
      return "P-256";
    case NID_secp384r1:
      return "P-384";
    case NID_secp521r1:
      return "P-521";
    case NID_X25519:
      return "X25519";
    default: {
      const char* name = SSL_group_to_name(ssl, static_cast<int>(SSL_get_negotiated_group(ssl)));
      return name ? name : std::string_view();
    }
  }
}

void countHandshake(SSL* ssl, stats::Shard<stats::Ssl>& stats) {
  using Counter = stats::Ssl::Counter;
  static const CounterNames& names = *new CounterNames;
  stats.add(Counter::Handshake);
  if (SSL_session_reused(ssl)) stats.add(Counter::SessionReused);
  names.count("versions.", SSL_get_version(ssl), stats);
  names.count("ciphers.", SSL_CIPHER_get_name(SSL_get_current_cipher(ssl)), stats);
  names.count("curves.", groupName(ssl), stats);
  names.count("sigalgs.", keptSignatureName(ssl), stats);
  if (!SSL_get0_peer_certificate(ssl)) stats.add(Counter::NoCertificate);
}

}  // namespace fairlead::tls
