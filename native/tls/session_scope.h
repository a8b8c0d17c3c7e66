// Where a session may go on: with whoever asks the same of clients and shows them the same names.
// Listeners can have ticket keys together; who came in where nothing was asked must not go on from
// there where a certificate is. Made by the control thread while it builds a context.
#pragma once

#include <array>
#include <string_view>

#include "plan/plan.gen.h"
#include "tls/openssl.h"

namespace fairlead::tls {

class SessionScope {
 public:
  using Digest = std::array<unsigned char, 32>;

  explicit SessionScope(const plan::TlsContext& plan);

  // One of those that are shown: whom it is for and who has signed it, so that its next one of the
  // same names has the same scope.
  void addCertificate(const X509* certificate);
  // What the filter chain matches: its clients have no business in another one.
  void addServerName(std::string_view name) { add(name); }
  Digest finish();

 private:
  using ContextPtr = std::unique_ptr<EVP_MD_CTX, FreeBy<EVP_MD_CTX_free>>;

  void add(std::string_view bytes);
  void add(uint64_t number);
  void addValidation(const plan::TlsValidation& plan);

  const ContextPtr digest_;
};

}  // namespace fairlead::tls
