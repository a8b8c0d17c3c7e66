#include "tls/session_scope.h"

#include <string>

#include "tls/names.h"

namespace fairlead::tls {

SessionScope::SessionScope(const plan::TlsContext& plan) : digest_(EVP_MD_CTX_new()) {
  EVP_DigestInit_ex(digest_.get(), EVP_sha256(), nullptr);
  add(uint64_t{plan.server && plan.server->requires_certificate});
  add(uint64_t{plan.validation.has_value()});
  if (plan.validation) addValidation(*plan.validation);
}

void SessionScope::addValidation(const plan::TlsValidation& plan) {
  add(plan.trusted_ca);
  add(plan.crl);
  for (const std::vector<std::string>& hashes : {plan.certificate_hashes, plan.key_hashes}) {
    add(uint64_t{hashes.size()});
    for (const std::string& hash : hashes) add(hash);
  }
  add(uint64_t{plan.subjects.size()});
  for (const plan::SubjectMatch& subject : plan.subjects) {
    const plan::StringMatch match = subject.match.value_or(plan::StringMatch());
    add(static_cast<uint64_t>(subject.kind));
    add(static_cast<uint64_t>(match.kind));
    add(match.value);
    add(uint64_t{match.ignore_case});
    add(match.regex ? std::string_view(match.regex->program) : std::string_view());
    add(subject.oid);
  }
  add(uint64_t{plan.allows_expired});
  add(uint64_t{plan.accepts_untrusted});
  add(uint64_t{plan.only_leaf_crl});
  add(plan.max_depth ? uint64_t{*plan.max_depth} + 1 : 0);
  if (!plan.spiffe) return;
  for (const plan::SpiffeTrustDomain& domain : plan.spiffe->domains) {
    add(domain.name);
    add(domain.workload);
    add(domain.authorities);
  }
}

void SessionScope::addCertificate(const X509* certificate) {
  add(commonName(certificate));
  add(issuerText(certificate));
  for (const SubjectName& name : subjectNames(certificate)) {
    add(static_cast<uint64_t>(name.type));
    add(name.value);
  }
}

SessionScope::Digest SessionScope::finish() {
  Digest digest = {};
  unsigned size = 0;
  EVP_DigestFinal_ex(digest_.get(), digest.data(), &size);
  return digest;
}

// With its size, so that no two lists are the same bytes.
void SessionScope::add(std::string_view bytes) {
  add(uint64_t{bytes.size()});
  EVP_DigestUpdate(digest_.get(), bytes.data(), bytes.size());
}

void SessionScope::add(uint64_t number) {
  EVP_DigestUpdate(digest_.get(), &number, sizeof(number));
}

}  // namespace fairlead::tls
