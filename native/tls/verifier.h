// Whether a peer's certificate is good: its chain, its names, its hashes. Immutable; shared by all
// workers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "match/string_matcher.h"
#include "plan/plan.gen.h"
#include "tls/openssl.h"

namespace fairlead::tls {

struct Verdict {
  enum class Kind : uint8_t {
    // It is known to be good.
    Good,
    // Nothing was asked of it, or what was asked and failed does not matter.
    Untested,
    // The chain; the names; the hashes.
    BadChain,
    BadName,
    BadHash,
  };
  Kind kind = Kind::Untested;
  // The chain is not good, and yet that is accepted.
  bool is_untrusted = false;
  // As X509_V_ERR_… has it, for the alert.
  int error = X509_V_OK;
  // "X509_verify_cert: certificate verification error at depth 0: …"
  std::string details = {};

  bool isRefused() const { return kind >= Kind::BadChain; }
};

// Whom a connection is to, beside what its configuration asks of all.
struct WantedPeer {
  // DNS names, by line ends, of which the certificate must have one as well; empty: none.
  std::string_view names;
  // It is the server's name, for which the real server has a matcher.
  bool is_by_matcher = false;
  // The trust domain of the connection's own workload; empty: nothing is said.
  std::string_view workload = {};
};

class Verifier {
 public:
  static Result<std::shared_ptr<const Verifier>> build(const plan::TlsValidation& plan);

  // Sets what a context needs so that peers show certificates.
  void configure(SSL_CTX* context, bool is_server) const;
  // Whether chains are verified.
  bool hasAuthorities() const { return has_authorities_; }
  // What OpenSSL is told of a Verdict's error, so that the peer gets the real server's alert.
  static int errorToTell(int error);
  // Who is trusted, of all trust domains.
  const std::vector<X509Ptr>& authorities() const { return authorities_; }
  // Of SSL_VERIFY_…: what is asked of a peer.
  int mode() const { return mode_; }
  Verdict verify(X509_STORE_CTX* store, const WantedPeer& wanted) const;

 private:
  struct Subject {
    plan::SubjectMatch::Kind kind;
    // Of a DNS name without wildcards of its own: the certificate may have one.
    std::string exact;
    match::StringMatcher matcher;
    std::string oid;
  };

  // Of SPIFFE: who may vouch for names of a trust domain.
  struct TrustDomain {
    std::string name;
    // Of connections whose own workload is of this one; empty: of those that say nothing.
    std::string workload;
    StorePtr store;
  };

  Result<void> loadTrustDomains(const plan::SpiffeTrust& plan);
  const TrustDomain* trustDomainOf(const X509* certificate, std::string_view workload) const;
  Verdict verifySpiffe(X509_STORE_CTX* store, std::string_view workload) const;
  Result<void> loadAuthorities(const plan::TlsValidation& plan);
  Result<void> loadRevocations(const plan::TlsValidation& plan);
  bool fits(const Subject& subject, int type, const std::string& value,
            const std::string& oid) const;
  Verdict verifyNames(const X509* certificate, const WantedPeer& wanted) const;
  Verdict verifyHashes(const X509* certificate) const;

  StorePtr store_;
  std::vector<X509Ptr> authorities_;
  std::vector<TrustDomain> trust_domains_;
  std::vector<Subject> subjects_;
  std::vector<std::string> certificate_hashes_;
  std::vector<std::string> key_hashes_;
  int mode_ = SSL_VERIFY_NONE;
  int max_depth_ = -1;
  bool is_spiffe_ = false;
  bool allows_expired_ = false;
  bool has_authorities_ = false;
  bool accepts_untrusted_ = false;
  bool hides_ca_list_ = false;
};

}  // namespace fairlead::tls
