#include "tls/info.h"

#include <cstdio>
#include <cstring>
#include <utility>

#include "base/hex.h"
#include "tls/context.h"
#include "tls/counts.h"
#include "tls/names.h"

namespace fairlead::tls {

namespace {

using net::TlsValue;

bool appendText(std::string_view text, std::string* out) {
  out->append(text);
  return !text.empty();
}

bool appendNames(const X509* certificate, int type, std::string* out) {
  const size_t before = out->size();
  for (const SubjectName& name : subjectNames(certificate)) {
    if (name.type != type) continue;
    if (out->size() > before) out->push_back(',');
    out->append(name.value);
  }
  return out->size() > before;
}

// In PEM; what a URL could not hold is %XX.
void appendPem(X509* certificate, std::string* out) {
  const BioPtr memory(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(memory.get(), certificate) != 1) return;
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &bytes);
  for (const char c : std::string_view(bytes, static_cast<size_t>(size))) {
    const bool is_plain =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-';
    if (is_plain) {
      out->push_back(c);
    } else {
      char escaped[4];
      std::snprintf(escaped, sizeof(escaped), "%%%02X", static_cast<unsigned char>(c));
      out->append(escaped);
    }
  }
}

bool isOfIssuer(TlsValue value) {
  return value == TlsValue::PeerIssuerSha256 || value == TlsValue::PeerIssuerSerial;
}

bool isOfChain(TlsValue value) {
  return value >= TlsValue::PeerChainCertificates && value <= TlsValue::PeerChainSerials;
}

}  // namespace

SSL* Info::ssl() const {
  if (!ssl_) ssl_ = std::exchange(context_, nullptr)->makeSsl();
  return ssl_.get();
}

bool Info::append(TlsValue value, std::string* out) const {
  if (value < TlsValue::PeerSubject) return appendOfConnection(value, out);
  if (value >= TlsValue::LocalSubject) return appendOfLocal(value, out);
  if (!peer()) return false;
  if (isOfIssuer(value)) return appendOfIssuer(value, out);
  return isOfChain(value) ? appendOfChain(value, out) : appendOfPeer(value, out);
}

bool Info::appendOfConnection(TlsValue value, std::string* out) const {
  SSL* const ssl = this->ssl();
  switch (value) {
    case TlsValue::Version: {
      if (version_ >= TLS1_3_VERSION) return appendText("TLSv1.3", out);
      // Nothing was agreed on: as the real server has it then.
      const bool is_agreed = SSL_get_current_cipher(ssl) || SSL_get_pending_cipher(ssl);
      return appendText(is_agreed ? SSL_get_version(ssl) : "TLSv1.2", out);
    }
    case TlsValue::Cipher: {
      // Of a handshake that fails, too, as far as it came.
      const SSL_CIPHER* cipher = SSL_get_current_cipher(ssl);
      if (!cipher) cipher = SSL_get_pending_cipher(ssl);
      return cipher && appendText(SSL_CIPHER_get_name(cipher), out);
    }
    case TlsValue::Group:
      return SSL_get_current_cipher(ssl) && appendText(groupName(ssl), out);
    case TlsValue::SessionId: {
      unsigned size = 0;
      const SSL_SESSION* session = SSL_get_session(ssl);
      const unsigned char* id = session ? SSL_SESSION_get_id(session, &size) : nullptr;
      // That of TLS 1.3 is of nobody's use.
      if (!id || SSL_version(ssl) >= TLS1_3_VERSION) return false;
      return appendText(hexOf({reinterpret_cast<const char*>(id), size}), out);
    }
    case TlsValue::ServerName: {
      const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
      return name && appendText(name, out);
    }
    default:
      return false;
  }
}

std::vector<std::string> Info::peerNames(TlsValue value) const {
  const bool is_known = value == TlsValue::PeerUriNames || value == TlsValue::PeerDnsNames;
  if (!is_known || !peer()) return {};
  const int type = value == TlsValue::PeerUriNames ? GEN_URI : GEN_DNS;
  std::vector<std::string> names;
  for (const SubjectName& name : subjectNames(peer())) {
    if (name.type == type) names.emplace_back(name.value);
  }
  return names;
}

bool Info::appendOfPeer(TlsValue value, std::string* out) const {
  const X509* certificate = peer();
  switch (value) {
    case TlsValue::PeerSubject:
      return appendText(subjectText(certificate), out);
    case TlsValue::PeerIssuer:
      return appendText(issuerText(certificate), out);
    case TlsValue::PeerSerial:
      return appendText(serialText(certificate), out);
    case TlsValue::PeerUriNames:
      return appendNames(certificate, GEN_URI, out);
    case TlsValue::PeerDnsNames:
      return appendNames(certificate, GEN_DNS, out);
    case TlsValue::PeerIpNames:
      return appendNames(certificate, GEN_IPADD, out);
    case TlsValue::PeerEmailNames:
      return appendNames(certificate, GEN_EMAIL, out);
    case TlsValue::PeerOtherNames:
      return appendNames(certificate, GEN_OTHERNAME, out);
    case TlsValue::PeerSha256:
      return appendText(hexOf(digestOf(certificate, EVP_sha256())), out);
    case TlsValue::PeerSha1:
      return appendText(hexOf(digestOf(certificate, EVP_sha1())), out);
    case TlsValue::PeerCertificate:
      appendPem(const_cast<X509*>(certificate), out);
      return true;
    default:
      return false;
  }
}

// As the peer has sent it.
template <typename Write>
bool Info::forChain(std::string* out, std::string_view separator, Write write) const {
  SSL* const ssl = this->ssl();
  const STACK_OF(X509)* chain = SSL_get_peer_cert_chain(ssl);
  // What a client has sent is told without its own certificate.
  const bool lacks_own = SSL_is_server(ssl);
  if (lacks_own) write(const_cast<X509*>(peer()));
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    if (i > 0 || lacks_own) out->append(separator);
    write(sk_X509_value(chain, i));
  }
  return true;
}

// Null: nobody was found.
X509* Info::issuer() const {
  const STACK_OF(X509)* chain = SSL_get0_verified_chain(ssl());
  return chain && sk_X509_num(chain) > 1 ? sk_X509_value(chain, 1) : nullptr;
}

bool Info::appendOfIssuer(TlsValue value, std::string* out) const {
  X509* const issuer = this->issuer();
  if (!issuer) return false;
  return appendText(value == TlsValue::PeerIssuerSerial ? serialText(issuer)
                                                        : hexOf(digestOf(issuer, EVP_sha256())),
                    out);
}

bool Info::appendOfChain(TlsValue value, std::string* out) const {
  switch (value) {
    case TlsValue::PeerChainCertificates:
      return forChain(out, "", [out](X509* one) { appendPem(one, out); });
    case TlsValue::PeerChainSha256:
      return forChain(out, ",", [out](X509* one) { *out += hexOf(digestOf(one, EVP_sha256())); });
    case TlsValue::PeerChainSha1:
      return forChain(out, ",", [out](X509* one) { *out += hexOf(digestOf(one, EVP_sha1())); });
    case TlsValue::PeerChainSerials:
      return forChain(out, ",", [out](X509* one) { *out += serialText(one); });
    default:
      return false;
  }
}

bool Info::appendOfLocal(TlsValue value, std::string* out) const {
  const X509* certificate = SSL_get_certificate(ssl());
  if (!certificate) return false;
  switch (value) {
    case TlsValue::LocalSubject:
      return appendText(subjectText(certificate), out);
    case TlsValue::LocalUriNames:
      return appendNames(certificate, GEN_URI, out);
    case TlsValue::LocalDnsNames:
      return appendNames(certificate, GEN_DNS, out);
    case TlsValue::LocalIpNames:
      return appendNames(certificate, GEN_IPADD, out);
    case TlsValue::LocalEmailNames:
      return appendNames(certificate, GEN_EMAIL, out);
    case TlsValue::LocalOtherNames:
      return appendNames(certificate, GEN_OTHERNAME, out);
    default:
      return false;
  }
}

std::optional<int64_t> Info::peerValidFrom() const {
  return peer() ? secondsOf(X509_get0_notBefore(peer())) : std::nullopt;
}

uint16_t Info::cipherNumber() const {
  const SSL_CIPHER* cipher = SSL_get_current_cipher(ssl());
  return cipher ? SSL_CIPHER_get_protocol_id(cipher) : uint16_t{0};
}

std::optional<int64_t> Info::peerValidTo() const {
  return peer() ? secondsOf(X509_get0_notAfter(peer())) : std::nullopt;
}

std::string_view Info::protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

}  // namespace fairlead::tls
