#include "tls/context.h"

#include <openssl/pkcs12.h>

#include <algorithm>
#include <cstring>
#include <ctime>

#include "tls/names.h"
#include "tls/own_key.h"
#include "tls/transport.h"

namespace fairlead::tls {

namespace {

// A read takes as much as the kernel has, up to this.
constexpr size_t kReadBytes = 32 * 1024;

Error opensslError(const char* what) { return Error{std::string(what) + ": " + takeReason()}; }

int givePassword(char* to, int size, int, void* password) {
  const auto& text = *static_cast<const std::string*>(password);
  const int length = static_cast<int>(text.size());
  if (length > size) return -1;
  std::memcpy(to, text.data(), text.size());
  return length;
}

// A certificate, its key, and who has signed it.
struct Identity {
  X509Ptr certificate;
  KeyPtr key;
  std::vector<X509Ptr> chain;
};

Result<Identity> readPkcs12(const plan::TlsCertificate& plan) {
  using BagPtr = std::unique_ptr<PKCS12, FreeBy<PKCS12_free>>;
  const BioPtr in = readerOf(plan.pkcs12);
  const BagPtr bag(d2i_PKCS12_bio(in.get(), nullptr));
  if (!bag) return opensslError("pkcs12 is not in that format");
  Identity identity;
  X509* certificate = nullptr;
  EVP_PKEY* key = nullptr;
  STACK_OF(X509)* others = nullptr;
  const int done = PKCS12_parse(bag.get(), plan.password.c_str(), &key, &certificate, &others);
  identity.certificate.reset(certificate);
  identity.key.reset(key);
  while (sk_X509_num(others) > 0) identity.chain.emplace_back(sk_X509_shift(others));
  sk_X509_free(others);
  if (done != 1) return opensslError("pkcs12 cannot be read with its password");
  if (!certificate || !key) return Error{"pkcs12 must hold a certificate and its private key"};
  return identity;
}

Result<Identity> readPem(const plan::TlsCertificate& plan) {
  Identity identity;
  const BioPtr chain = readerOf(plan.chain);
  identity.certificate.reset(PEM_read_bio_X509_AUX(chain.get(), nullptr, nullptr, nullptr));
  if (!identity.certificate) return opensslError("certificate_chain holds no certificate in PEM");
  for (;;) {
    X509Ptr next(PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr));
    if (!next) break;
    identity.chain.push_back(std::move(next));
  }
  // That no other begins is its end; one that does and is none makes all of it nothing.
  const bool is_whole = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!is_whole) return Error{"Failed to load certificate chain: not all of it is certificates"};
  const BioPtr key = readerOf(plan.key);
  std::string password = plan.password;
  identity.key.reset(PEM_read_bio_PrivateKey(key.get(), nullptr, givePassword, &password));
  OPENSSL_cleanse(password.data(), password.size());
  if (!identity.key) return opensslError("private_key cannot be read");
  return identity;
}

Result<void> use(SSL_CTX* context, const Identity& identity) {
  if (SSL_CTX_use_certificate(context, identity.certificate.get()) != 1) {
    return opensslError("certificate_chain cannot be used");
  }
  for (const X509Ptr& issuer : identity.chain) {
    if (SSL_CTX_add1_chain_cert(context, issuer.get()) != 1) {
      return opensslError("certificate_chain cannot be used");
    }
  }
  if (SSL_CTX_use_PrivateKey(context, identity.key.get()) != 1 ||
      SSL_CTX_check_private_key(context) != 1) {
    return opensslError("private_key is not of the certificate");
  }
  return {};
}

// Whether the client takes certificates with ECDSA keys, by a cipher that is ours, too.
bool takesEcdsa(SSL* ssl) {
  if (SSL_version(ssl) >= TLS1_3_VERSION) {
    const int count = SSL_get_sigalgs(ssl, 0, nullptr, nullptr, nullptr, nullptr, nullptr);
    for (int i = 0; i < count; ++i) {
      int key = NID_undef;
      SSL_get_sigalgs(ssl, i, &key, nullptr, nullptr, nullptr, nullptr);
      if (key == EVP_PKEY_EC) return true;
    }
    return false;
  }
  const STACK_OF(SSL_CIPHER)* theirs = SSL_get_client_ciphers(ssl);
  const STACK_OF(SSL_CIPHER)* ours = SSL_get_ciphers(ssl);
  for (int i = 0; i < sk_SSL_CIPHER_num(ours); ++i) {
    const SSL_CIPHER* cipher = sk_SSL_CIPHER_value(ours, i);
    if (SSL_CIPHER_get_auth_nid(cipher) != NID_auth_ecdsa) continue;
    for (int j = 0; j < sk_SSL_CIPHER_num(theirs); ++j) {
      if (SSL_CIPHER_get_id(sk_SSL_CIPHER_value(theirs, j)) == SSL_CIPHER_get_id(cipher)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

Result<std::shared_ptr<const Context>> Context::build(const plan::TlsContext& plan,
                                                      const Surroundings& around) {
  std::shared_ptr<Context> context(new Context(plan, around.key_log));
  for (unsigned i = 0; i < around.workers && !plan.server && plan.max_sessions > 0; ++i) {
    context->sessions_.push_back(std::make_unique<SessionStore>(plan.max_sessions));
  }
  if (plan.is_incomplete) return std::shared_ptr<const Context>(std::move(context));
  if (plan.validation) {
    auto verifier = Verifier::build(*plan.validation);
    if (!verifier) return verifier.error();
    context->verifier_ = std::move(verifier.value());
  }
  if (plan.server) {
    for (const std::string& key : plan.server->ticket_keys) {
      if (key.size() != TicketKeys::kBytes) return Error{"a session ticket key has 80 bytes"};
    }
    context->ticket_keys_ = TicketKeys(plan.server->ticket_keys);
  }
  for (const std::string& protocol : plan.alpn) {
    if (protocol.empty() || protocol.size() > 255) return Error{"Invalid ALPN protocol string"};
    context->alpn_.append(1, static_cast<char>(protocol.size())).append(protocol);
  }
  SessionScope scope(plan);
  for (const std::string& name : around.server_names) scope.addServerName(name);
  for (const plan::TlsCertificate& certificate : plan.certificates) {
    if (auto added = context->addCertificate(&certificate, &scope); !added) return added.error();
  }
  // Of a client without a certificate.
  if (plan.certificates.empty()) {
    if (auto added = context->addCertificate(nullptr, &scope); !added) return added.error();
  }
  // Sessions of other certificates of the same context are good in any.
  const SessionScope::Digest id = scope.finish();
  for (const Certificate& certificate : context->certificates_) {
    SSL_CTX_set_session_id_context(certificate.context.get(), id.data(), id.size());
  }
  if (plan.validation && plan.validation->spiffe) {
    size_t index = 0;
    for (const X509Ptr& authority : context->verifier_->authorities()) {
      context->noteExpiry(plan.validation->name + "_" + std::to_string(index++), authority.get());
    }
  } else if (plan.validation) {
    const BioPtr in = readerOf(plan.validation->trusted_ca);
    std::optional<int64_t> first;
    while (const X509Ptr one{PEM_read_bio_X509_AUX(in.get(), nullptr, nullptr, nullptr)}) {
      const std::optional<int64_t> end = secondsOf(X509_get0_notAfter(one.get()));
      if (end) first = std::min(*end, first.value_or(*end));
    }
    ERR_clear_error();
    context->noteAuthorities(plan.validation->name, first);
  }
  return std::shared_ptr<const Context>(std::move(context));
}

Result<void> Context::addCertificate(const plan::TlsCertificate* plan, SessionScope* scope) {
  ERR_clear_error();
  Certificate certificate;
  certificate.context.reset(SSL_CTX_new(isServer() ? TLS_server_method() : TLS_client_method()));
  if (!certificate.context) return opensslError("there is no context");
  if (auto configured = configure(certificate.context.get()); !configured) return configured;
  if (plan) {
    auto identity = plan->pkcs12.empty() ? readPem(*plan) : readPkcs12(*plan);
    if (!identity) return identity.error();
    if (auto checked = checkOwnKey(identity.value().certificate.get()); !checked) return checked;
    if (auto used = use(certificate.context.get(), identity.value()); !used) return used;
    certificate.is_ecdsa = EVP_PKEY_get_base_id(identity.value().key.get()) == EVP_PKEY_EC;
    noteExpiry(plan->name, identity.value().certificate.get());
    const X509Ptr own = std::move(identity.value().certificate);
    scope->addCertificate(own.get());
    if (auto added = addOcspResponse(plan->ocsp_response, own.get(), &certificate); !added) {
      return added;
    }
    certificates_.push_back(std::move(certificate));
    addNames(own.get(), certificates_.size() - 1);
    return {};
  }
  certificates_.push_back(std::move(certificate));
  return {};
}

Result<void> Context::addOcspResponse(const std::string& der, const X509* own,
                                      Certificate* to) const {
  if (!isServer()) return {};
  to->must_staple = mustStaple(own);
  if (!der.empty()) {
    auto response = OcspResponse::read(der, own);
    if (!response) return response.error();
    to->ocsp_response = std::move(response.value());
    return {};
  }
  if (to->must_staple) return Error{"OCSP response is required for must-staple certificate"};
  if (plan_.server->ocsp_policy == plan::TlsServer::OcspPolicy::MustStaple) {
    return Error{"Required OCSP response is missing from TLS context"};
  }
  return {};
}

// As in the real server, nobody is good for ever; who has no name then has less of one.
void Context::noteAuthorities(const std::string& name, const std::optional<int64_t>& first_end) {
  if (name.empty()) return;
  constexpr std::string_view kUnnamed = "unnamed_ca_cert";
  const bool is_short = !first_end && name.starts_with(kUnnamed);
  expiries_[is_short ? std::string(kUnnamed) : name] = first_end.value_or(INT64_MAX);
}

void Context::noteExpiry(const std::string& name, const X509* certificate) {
  const auto end = secondsOf(X509_get0_notAfter(certificate));
  if (!end || name.empty()) return;
  // Of several by one name the last is told of, as in the real server.
  expiries_[name] = *end;
}

void Context::addNames(const X509* certificate, size_t index) {
  const auto add = [&](std::string name) {
    if (name.starts_with("*.")) name.erase(0, 1);
    std::vector<size_t>& same = by_name_[name];
    for (const size_t other : same) {
      if (certificates_[other].is_ecdsa == certificates_[index].is_ecdsa) return;
    }
    same.push_back(index);
  };
  bool has_names = false;
  for (SubjectName& name : subjectNames(certificate)) {
    if (name.type != GEN_DNS) continue;
    has_names = true;
    add(std::move(name.value));
  }
  if (has_names) return;
  if (std::string name = commonName(certificate); !name.empty()) add(std::move(name));
}

Result<void> Context::configure(SSL_CTX* context) const {
  SSL_CTX_set_min_proto_version(context, static_cast<int>(plan_.min_version));
  SSL_CTX_set_max_proto_version(context, static_cast<int>(plan_.max_version));
  // An idle connection has no buffers. A certificate's chain is what is configured: none is looked
  // for with each handshake.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_NO_AUTO_CHAIN);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, kReadBytes);
  uint64_t options = SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF;
  if (!plan_.allows_renegotiation) options |= SSL_OP_NO_RENEGOTIATION;
  SSL_CTX_set_options(context, options);
  if (auto set = setLists(context); !set) return set;
  setVerification(context);
  if (key_log_) SSL_CTX_set_keylog_callback(context, Transport::onSecret);
  const std::string& suites = plan_.tls13_ciphers;
  if (!suites.empty() && SSL_CTX_set_ciphersuites(context, suites.c_str()) != 1) {
    return opensslError("Failed to initialize cipher suites of TLS 1.3");
  }
  if (isServer()) return configureServer(context);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, Transport::onNewSession);
  // What is preferred of 1.3 is not for the configuration to say.
  if (suites.empty())
    SSL_CTX_set_ciphersuites(
        context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256");
  if (!alpn_.empty()) {
    SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(alpn_.data()),
                            static_cast<unsigned>(alpn_.size()));
  }
  return {};
}

Result<void> Context::setLists(SSL_CTX* context) const {
  // What the real server allows is not less, of those that OpenSSL calls secure.
  const bool allows_sha1 = plan_.signature_algorithms.find("SHA1") != std::string::npos;
  SSL_CTX_set_security_level(context, plan_.min_version < TLS1_2_VERSION || allows_sha1 ? 0 : 1);
  if (!plan_.ciphers.empty() && SSL_CTX_set_cipher_list(context, plan_.ciphers.c_str()) != 1) {
    return opensslError("Failed to initialize cipher suites");
  }
  if (!plan_.curves.empty() && SSL_CTX_set1_groups_list(context, plan_.curves.c_str()) != 1) {
    return opensslError("Failed to initialize ECDH curves");
  }
  const char* signatures = plan_.signature_algorithms.c_str();
  if (*signatures && SSL_CTX_set1_sigalgs_list(context, signatures) != 1) {
    return opensslError("Failed to initialize TLS signature algorithms");
  }
  if (*signatures && isServer()) SSL_CTX_set1_client_sigalgs_list(context, signatures);
  return {};
}

void Context::setVerification(SSL_CTX* context) const {
  int mode = verifier_ ? verifier_->mode() : SSL_VERIFY_NONE;
  // As in the real server: where nobody could verify it, it need not be shown.
  if (plan_.server && plan_.server->requires_certificate && verifier_ &&
      verifier_->hasAuthorities()) {
    mode |= SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  }
  SSL_CTX_set_verify(context, mode, nullptr);
  // A client is shown the server's in any case.
  if (mode == SSL_VERIFY_NONE && isServer()) return;
  SSL_CTX_set_cert_verify_callback(context, Transport::onVerify, nullptr);
  if (verifier_) verifier_->configure(context, isServer());
}

Result<void> Context::configureServer(SSL_CTX* context) const {
  const plan::TlsServer& server = *plan_.server;
  uint64_t options = server.prefers_client_ciphers ? 0 : SSL_OP_CIPHER_SERVER_PREFERENCE;
  if (plan_.weighs_chacha) options |= SSL_OP_PRIORITIZE_CHACHA;
  if (server.disables_tickets) options |= SSL_OP_NO_TICKET;
  SSL_CTX_set_options(context, options);
  if (plan_.max_version >= TLS1_3_VERSION && !server.prefers_client_ciphers) {
    SSL_CTX_set_client_hello_cb(context, onClientHello, nullptr);
  }
  SSL_CTX_set_session_cache_mode(
      context, server.disables_cache ? SSL_SESS_CACHE_OFF : SSL_SESS_CACHE_SERVER);
  // One ticket is enough: who wants more connections at once makes them anew.
  // TLS 1.3 has no other sessions.
  SSL_CTX_set_num_tickets(context, server.disables_tickets ? 0 : 1);
  if (server.session_timeout_s > 0) {
    SSL_CTX_set_timeout(context, static_cast<long>(server.session_timeout_s));
  }
  SSL_CTX_set_session_ticket_cb(context, onTicketMade, nullptr, nullptr);
  if (!ticket_keys_.empty()) ticket_keys_.use(context);
  auto* self = const_cast<Context*>(this);
  SSL_CTX_set_cert_cb(context, onCertificate, self);
  SSL_CTX_set_tlsext_status_cb(context, onOcspStatus);
  if (!alpn_.empty()) SSL_CTX_set_alpn_select_cb(context, onAlpn, self);
  return {};
}

// As the real server, where how long sessions last is said of TLS 1.2 alone.
int Context::onTicketMade(SSL* ssl, void*) {
  constexpr long kSeconds = 2 * 24 * 60 * 60;
  if (SSL_version(ssl) >= TLS1_3_VERSION) SSL_SESSION_set_timeout(SSL_get_session(ssl), kSeconds);
  return 1;
}

// Of TLS 1.3 all ciphers are good, and the client's order counts, as in the real server.
int Context::onClientHello(SSL* ssl, int*, void*) {
  const unsigned char* versions = nullptr;
  size_t size = 0;
  if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_supported_versions, &versions, &size) != 1) {
    return SSL_CLIENT_HELLO_SUCCESS;
  }
  // After their length, two bytes each.
  for (size_t at = 1; at + 1 < size; at += 2) {
    if ((versions[at] << 8 | versions[at + 1]) != TLS1_3_VERSION) continue;
    SSL_clear_options(ssl, SSL_OP_CIPHER_SERVER_PREFERENCE);
  }
  return SSL_CLIENT_HELLO_SUCCESS;
}

// ---- which certificate ----

int Context::onCertificate(SSL* ssl, void* context) {
  const auto& self = *static_cast<const Context*>(context);
  const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  const bool is_one = self.certificates_.size() == 1;
  const bool asks_for_ocsp = SSL_get_tlsext_status_type(ssl) == TLSEXT_STATUSTYPE_ocsp;
  const Certificate& chosen = is_one
                                  ? self.certificates_.front()
                                  : self.choose({name ? name : "", takesEcdsa(ssl), asks_for_ocsp});
  if (SSL_get_SSL_CTX(ssl) != chosen.context.get()) SSL_set_SSL_CTX(ssl, chosen.context.get());
  const OcspStaple staple = self.stapleOf(chosen, asks_for_ocsp);
  Transport::onOcspStaple(ssl, staple);
  if (staple == OcspStaple::Sent) {
    // It is OpenSSL's then.
    const std::string& der = chosen.ocsp_response->der();
    if (void* copy = OPENSSL_memdup(der.data(), der.size())) {
      SSL_set_tlsext_status_ocsp_resp(ssl, copy, static_cast<long>(der.size()));
    }
  }
  return staple == OcspStaple::Failed ? 0 : 1;
}

int Context::onOcspStatus(SSL* ssl, void*) {
  const unsigned char* response = nullptr;
  return SSL_get_tlsext_status_ocsp_resp(ssl, &response) > 0 ? SSL_TLSEXT_ERR_OK
                                                             : SSL_TLSEXT_ERR_NOACK;
}

OcspStaple Context::stapleOf(const Certificate& certificate, bool is_asked) const {
  if (!is_asked) return OcspStaple::NotAsked;
  const OcspResponse* const response = certificate.ocsp_response.get();
  if (response && !response->isExpired(std::time(nullptr))) return OcspStaple::Sent;
  using Policy = plan::TlsServer::OcspPolicy;
  const Policy policy = plan_.server->ocsp_policy;
  if (certificate.must_staple || policy == Policy::MustStaple) return OcspStaple::Failed;
  return policy == Policy::Strict && response ? OcspStaple::Failed : OcspStaple::Omitted;
}

// An ECDSA key is preferred where the client takes it. As in the real server: names are compared as
// they are, and the first certificate is the last resort.
const Context::Certificate& Context::choose(const Wishes& wishes) const {
  const std::string_view server_name = wishes.server_name;
  if (!server_name.empty()) {
    if (const Certificate* found = findByName(server_name, wishes)) return *found;
    const size_t dot = server_name.find('.', 1);
    if (dot != std::string_view::npos && dot + 1 < server_name.size()) {
      if (const Certificate* found = findByName(server_name.substr(dot), wishes)) return *found;
    }
    if (!plan_.server->scans_all_certificates) return certificates_.front();
  }
  const Certificate* candidate = nullptr;
  for (const Certificate& certificate : certificates_) {
    if (stapleOf(certificate, wishes.asks_for_ocsp) == OcspStaple::Failed) continue;
    if (certificate.is_ecdsa == wishes.takes_ecdsa) return certificate;
    if (wishes.takes_ecdsa && !candidate) candidate = &certificate;
  }
  return candidate ? *candidate : certificates_.front();
}

const Context::Certificate* Context::findByName(std::string_view name, const Wishes& wishes) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  const Certificate* candidate = nullptr;
  for (const size_t index : found->second) {
    const Certificate& certificate = certificates_[index];
    if (stapleOf(certificate, wishes.asks_for_ocsp) == OcspStaple::Failed) continue;
    if (certificate.is_ecdsa == wishes.takes_ecdsa) return &certificate;
    if (wishes.takes_ecdsa) candidate = &certificate;
  }
  return candidate;
}

// What we like best of what the client offers; none: it goes on without.
int Context::onAlpn(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* in, unsigned in_size, void* context) {
  const auto& own = static_cast<const Context*>(context)->alpn_;
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_size, reinterpret_cast<const unsigned char*>(own.data()),
                            static_cast<unsigned>(own.size()), in,
                            in_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace fairlead::tls
