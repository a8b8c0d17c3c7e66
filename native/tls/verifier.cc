#include "tls/verifier.h"

#include <algorithm>

#include "tls/names.h"

namespace fairlead::tls {

namespace {

// In the words of the real server, and of its library, which spells some of them otherwise.
std::string problemText(int error) {
  switch (error) {
    case X509_V_ERR_CERT_REVOKED:
    case X509_V_ERR_UNABLE_TO_GET_CRL:
    case X509_V_ERR_CRL_HAS_EXPIRED:
    case X509_V_ERR_CRL_NOT_YET_VALID:
      return std::string("certificate revocation check against provided CRLs failed: ") +
             X509_verify_cert_error_string(error);
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return "self signed certificate";
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return "self signed certificate in certificate chain";
    case X509_V_ERR_INVALID_PURPOSE:
      return "unsupported certificate purpose";
    default:
      return X509_verify_cert_error_string(error);
  }
}

using InfosPtr = std::unique_ptr<STACK_OF(X509_INFO), decltype([](STACK_OF(X509_INFO) * infos) {
                                   sk_X509_INFO_pop_free(infos, X509_INFO_free);
                                 })>;

InfosPtr readInfos(std::string_view pem) {
  const BioPtr in = readerOf(pem);
  InfosPtr infos(PEM_X509_INFO_read_bio(in.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return infos;
}

// Whether it was good at another time does not matter.
int ignoreTimes(int ok, X509_STORE_CTX* store) {
  if (ok) return ok;
  const int error = X509_STORE_CTX_get_error(store);
  if (error != X509_V_ERR_CERT_HAS_EXPIRED && error != X509_V_ERR_CERT_NOT_YET_VALID) return ok;
  X509_STORE_CTX_set_error(store, X509_V_OK);
  return 1;
}

int typeOf(plan::SubjectMatch::Kind kind) {
  using Kind = plan::SubjectMatch::Kind;
  switch (kind) {
    case Kind::Dns:
      return GEN_DNS;
    case Kind::Uri:
      return GEN_URI;
    case Kind::Email:
      return GEN_EMAIL;
    case Kind::IpAddress:
      return GEN_IPADD;
    case Kind::OtherName:
      return GEN_OTHERNAME;
  }
  return -1;
}

// The trust domain of "spiffe://example.org/some/path"; empty: it is no name of SPIFFE.
std::string_view trustDomainIn(std::string_view uri) {
  constexpr std::string_view kScheme = "spiffe://";
  if (!uri.starts_with(kScheme)) return {};
  uri.remove_prefix(kScheme.size());
  const size_t end = uri.find('/');
  return end == std::string_view::npos ? std::string_view() : uri.substr(0, end);
}

// An authority, or one that may sign certificates, is nobody's own name (SPIFFE's X.509-SVID, 4.1
// and 4.3). Who does not say what its key is for may do anything.
bool mayBeLeaf(X509* certificate) {
  return (X509_get_extension_flags(certificate) & EXFLAG_CA) == 0 &&
         (X509_get_key_usage(certificate) & (KU_CRL_SIGN | KU_KEY_CERT_SIGN)) == 0;
}

// For alerts, which say no more of it than that the certificate is not known.
constexpr int kUnknownCertificate = X509_V_ERR_PERMITTED_VIOLATION;

std::string joined(const std::vector<SubjectName>& names) {
  std::string text;
  for (const SubjectName& name : names) text.append(text.empty() ? "" : ", ").append(name.value);
  return text;
}

}  // namespace

Result<std::shared_ptr<const Verifier>> Verifier::build(const plan::TlsValidation& plan) {
  auto verifier = std::make_shared<Verifier>();
  verifier->store_.reset(X509_STORE_new());
  verifier->allows_expired_ = plan.allows_expired;
  if (plan.spiffe) {
    if (auto loaded = verifier->loadTrustDomains(*plan.spiffe); !loaded) return loaded.error();
  } else {
    if (auto loaded = verifier->loadAuthorities(plan); !loaded) return loaded.error();
    if (auto loaded = verifier->loadRevocations(plan); !loaded) return loaded.error();
  }
  for (const plan::SubjectMatch& subject : plan.subjects) {
    const plan::StringMatch match = subject.match.value_or(plan::StringMatch());
    auto matcher = match::StringMatcher::build(match);
    if (!matcher) return matcher.error();
    const bool is_exact_dns = subject.kind == plan::SubjectMatch::Kind::Dns &&
                              match.kind == plan::StringMatch::Kind::Exact;
    verifier->subjects_.push_back({subject.kind, is_exact_dns ? match.value : std::string(),
                                   std::move(matcher.value()), subject.oid});
  }
  verifier->certificate_hashes_ = plan.certificate_hashes;
  verifier->key_hashes_ = plan.key_hashes;
  verifier->accepts_untrusted_ = plan.accepts_untrusted;
  verifier->hides_ca_list_ = plan.hides_ca_list;
  if (plan.max_depth) verifier->max_depth_ = static_cast<int>(*plan.max_depth);
  if (verifier->is_spiffe_) return std::shared_ptr<const Verifier>(std::move(verifier));
  if (verifier->has_authorities_ || plan.accepts_untrusted) verifier->mode_ = SSL_VERIFY_PEER;
  const bool asks_more =
      !plan.subjects.empty() || !plan.certificate_hashes.empty() || !plan.key_hashes.empty();
  if (asks_more) {
    verifier->mode_ = SSL_VERIFY_PEER;
    if (!plan.accepts_untrusted) verifier->mode_ |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  }
  return std::shared_ptr<const Verifier>(std::move(verifier));
}

Result<void> Verifier::loadAuthorities(const plan::TlsValidation& plan) {
  if (plan.trusted_ca.empty()) return {};
  const InfosPtr infos = readInfos(plan.trusted_ca);
  bool has_revocations = false;
  for (int i = 0; i < sk_X509_INFO_num(infos.get()); ++i) {
    X509_INFO* info = sk_X509_INFO_value(infos.get(), i);
    if (info->x509) {
      X509_STORE_add_cert(store_.get(), info->x509);
      X509_up_ref(info->x509);
      authorities_.emplace_back(info->x509);
    }
    if (info->crl) {
      X509_STORE_add_crl(store_.get(), info->crl);
      has_revocations = true;
    }
  }
  ERR_clear_error();
  if (authorities_.empty()) return Error{"trusted_ca holds no certificate in PEM"};
  has_authorities_ = true;
  // Who is named here is trusted, be it no root.
  unsigned long flags = X509_V_FLAG_PARTIAL_CHAIN;
  if (has_revocations) flags |= X509_V_FLAG_CRL_CHECK;
  if (has_revocations && !plan.only_leaf_crl) flags |= X509_V_FLAG_CRL_CHECK_ALL;
  X509_STORE_set_flags(store_.get(), flags);
  if (plan.allows_expired) X509_STORE_set_verify_cb(store_.get(), ignoreTimes);
  return {};
}

// One store for each: what an authority of one signs is nothing to another.
Result<void> Verifier::loadTrustDomains(const plan::SpiffeTrust& plan) {
  is_spiffe_ = true;
  mode_ = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  for (const plan::SpiffeTrustDomain& domain : plan.domains) {
    TrustDomain made{domain.name, domain.workload, StorePtr(X509_STORE_new())};
    const InfosPtr infos = readInfos(domain.authorities);
    bool has_authorities = false;
    bool has_revocations = false;
    for (int i = 0; i < sk_X509_INFO_num(infos.get()); ++i) {
      X509_INFO* info = sk_X509_INFO_value(infos.get(), i);
      if (info->x509) {
        X509_STORE_add_cert(made.store.get(), info->x509);
        X509_up_ref(info->x509);
        authorities_.emplace_back(info->x509);
        has_authorities = true;
      }
      if (info->crl) {
        X509_STORE_add_crl(made.store.get(), info->crl);
        has_revocations = true;
      }
    }
    ERR_clear_error();
    if (!has_authorities) return Error{"Failed to load trusted CA certificate for " + domain.name};
    if (has_revocations) {
      X509_STORE_set_flags(made.store.get(), X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
    }
    if (allows_expired_) X509_STORE_set_verify_cb(made.store.get(), ignoreTimes);
    trust_domains_.push_back(std::move(made));
  }
  return {};
}

Result<void> Verifier::loadRevocations(const plan::TlsValidation& plan) {
  if (plan.crl.empty()) return {};
  const InfosPtr infos = readInfos(plan.crl);
  for (int i = 0; i < sk_X509_INFO_num(infos.get()); ++i) {
    if (X509_CRL* crl = sk_X509_INFO_value(infos.get(), i)->crl) {
      X509_STORE_add_crl(store_.get(), crl);
    }
  }
  ERR_clear_error();
  // Without any list nobody is trusted.
  unsigned long flags = X509_V_FLAG_CRL_CHECK;
  if (!plan.only_leaf_crl) flags |= X509_V_FLAG_CRL_CHECK_ALL;
  X509_STORE_set_flags(store_.get(), flags);
  return {};
}

void Verifier::configure(SSL_CTX* context, bool is_server) const {
  // One store, counted: contexts of several certificates have it together.
  SSL_CTX_set1_verify_cert_store(context, store_.get());
  // OpenSSL does not count the authority that is trusted, and the real server does.
  if (max_depth_ >= 0) SSL_CTX_set_verify_depth(context, std::max(max_depth_ - 1, 0));
  if (!is_server || hides_ca_list_) return;
  for (const X509Ptr& authority : authorities_) SSL_CTX_add_client_CA(context, authority.get());
}

// Of the first of its names that is in one, as it is for that workload's.
const Verifier::TrustDomain* Verifier::trustDomainOf(const X509* certificate,
                                                     std::string_view workload) const {
  for (const SubjectName& name : subjectNames(certificate)) {
    if (name.type != GEN_URI) continue;
    const std::string_view wanted = trustDomainIn(name.value);
    for (const TrustDomain& domain : trust_domains_) {
      if (!wanted.empty() && domain.name == wanted && domain.workload == workload) return &domain;
    }
  }
  return nullptr;
}

Verdict Verifier::verifySpiffe(X509_STORE_CTX* store, std::string_view workload) const {
  Verdict verdict;
  verdict.kind = Verdict::Kind::BadChain;
  verdict.error = kUnknownCertificate;
  verdict.is_untrusted = true;
  X509* const certificate = X509_STORE_CTX_get0_cert(store);
  if (!mayBeLeaf(certificate)) {
    verdict.details = "cert precheck";
    return verdict;
  }
  const TrustDomain* const domain = trustDomainOf(certificate, workload);
  if (!domain) {
    verdict.details = "no trust bundle store";
    return verdict;
  }
  using ContextPtr = std::unique_ptr<X509_STORE_CTX, FreeBy<X509_STORE_CTX_free>>;
  const ContextPtr own(X509_STORE_CTX_new());
  X509_STORE_CTX_init(own.get(), domain->store.get(), certificate,
                      X509_STORE_CTX_get0_untrusted(store));
  if (X509_verify_cert(own.get()) != 1) {
    verdict.details = "X509_verify_cert: certificate verification error at depth " +
                      std::to_string(X509_STORE_CTX_get_error_depth(own.get())) + ": ";
    verdict.details += problemText(X509_STORE_CTX_get_error(own.get()));
    return verdict;
  }
  for (const SubjectName& name : subjectNames(certificate)) {
    if (subjects_.empty() || std::any_of(subjects_.begin(), subjects_.end(), [&](const auto& one) {
          return fits(one, name.type, name.value, name.oid);
        })) {
      return {.kind = Verdict::Kind::Good};
    }
  }
  return {.kind = Verdict::Kind::BadName, .error = kUnknownCertificate, .details = "SAN match"};
}

// OpenSSL and the real server's library do not have the same alerts for all of them.
int Verifier::errorToTell(int error) {
  switch (error) {
    case X509_V_ERR_CERT_NOT_YET_VALID:
    case X509_V_ERR_CRL_NOT_YET_VALID:
      return X509_V_ERR_CERT_HAS_EXPIRED;
    case X509_V_ERR_UNABLE_TO_GET_CRL:
      return kUnknownCertificate;
    default:
      return error;
  }
}

Verdict Verifier::verify(X509_STORE_CTX* store, const WantedPeer& wanted) const {
  if (is_spiffe_) return verifySpiffe(store, wanted.workload);
  Verdict verdict;
  const X509* certificate = X509_STORE_CTX_get0_cert(store);
  if (has_authorities_) {
    if (X509_verify_cert(store) == 1) {
      verdict.kind = Verdict::Kind::Good;
    } else {
      verdict.error = X509_STORE_CTX_get_error(store);
      // The real server looks no further then.
      if (verdict.error == X509_V_ERR_CERT_CHAIN_TOO_LONG) {
        verdict.error = X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY;
      }
      verdict.details = "X509_verify_cert: certificate verification error at depth " +
                        std::to_string(X509_STORE_CTX_get_error_depth(store)) + ": ";
      verdict.details += problemText(verdict.error);
      verdict.is_untrusted = true;
      if (!accepts_untrusted_) {
        verdict.kind = Verdict::Kind::BadChain;
        return verdict;
      }
    }
  }
  const bool is_untrusted = verdict.is_untrusted;
  for (Verdict more : {verifyNames(certificate, wanted), verifyHashes(certificate)}) {
    if (more.kind == Verdict::Kind::Untested) continue;
    more.is_untrusted = is_untrusted;
    // What is not trusted is let in whatever else it is.
    if (more.isRefused() && accepts_untrusted_) more.kind = Verdict::Kind::Untested;
    if (more.isRefused()) return more;
    if (!is_untrusted) verdict.kind = more.kind;
  }
  return verdict;
}

Verdict Verifier::verifyNames(const X509* certificate, const WantedPeer& wanted) const {
  if (subjects_.empty() && wanted.names.empty()) return {};
  const std::vector<SubjectName> names = subjectNames(certificate);
  const auto has = [&names](auto test) { return std::any_of(names.begin(), names.end(), test); };
  const auto refused = [&names](const std::string& what, const char* are) {
    return Verdict{.kind = Verdict::Kind::BadName,
                   .error = kUnknownCertificate,
                   .details = what + ", certificate SANs" + are + joined(names) + "]"};
  };
  constexpr const char* kMatcher = "SAN matcher";
  constexpr const char* kAre = " are [";
  const auto hasWanted = [&](std::string_view one) {
    return has([one](const SubjectName& name) {
      return name.type == GEN_IPADD
                 ? name.value == one
                 : (name.type == GEN_DNS || name.type == GEN_URI) && dnsNameFits(name.value, one);
    });
  };
  if (!wanted.names.empty()) {
    bool is_found = false;
    std::string all;
    for (std::string_view rest = wanted.names; !rest.empty();) {
      const std::string_view one = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(one.size() + 1, rest.size()));
      is_found = is_found || hasWanted(one);
      all.append(all.empty() ? "" : ", ").append(one);
    }
    if (!is_found && wanted.is_by_matcher) return refused(kMatcher, kAre);
    if (!is_found) return refused("verify SAN list, expected SANs: [" + all + "]", ": [");
  }
  if (!subjects_.empty() && !has([this](const SubjectName& name) {
        return std::any_of(subjects_.begin(), subjects_.end(), [&](const Subject& subject) {
          return fits(subject, name.type, name.value, name.oid);
        });
      })) {
    return refused(kMatcher, kAre);
  }
  return {.kind = Verdict::Kind::Good};
}

bool Verifier::fits(const Subject& subject, int type, const std::string& value,
                    const std::string& oid) const {
  if (typeOf(subject.kind) != type || (type == GEN_OTHERNAME && subject.oid != oid)) return false;
  if (!subject.exact.empty()) return dnsNameFits(value, subject.exact);
  return subject.matcher.matches(value);
}

Verdict Verifier::verifyHashes(const X509* certificate) const {
  if (certificate_hashes_.empty() && key_hashes_.empty()) return {};
  const auto has = [](const std::vector<std::string>& hashes, const std::string& hash) {
    return std::find(hashes.begin(), hashes.end(), hash) != hashes.end();
  };
  const bool fits = (!certificate_hashes_.empty() &&
                     has(certificate_hashes_, digestOf(certificate, EVP_sha256()))) ||
                    (!key_hashes_.empty() && has(key_hashes_, keyDigestOf(certificate)));
  if (fits) return {.kind = Verdict::Kind::Good};
  return {.kind = Verdict::Kind::BadHash,
          .error = X509_V_ERR_APPLICATION_VERIFICATION,
          .details = "cert hash and spki"};
}

}  // namespace fairlead::tls
