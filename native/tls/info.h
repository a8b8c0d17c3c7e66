// What TLS knows of a connection: the state of OpenSSL's itself, which it owns, and which there is
// once it is asked for: who connects and says nothing costs none. The connection's transport shares
// it with logs that are written when the connection is gone. The worker's thread.
#pragma once

#include <memory>

#include "net/tls_info.h"
#include "tls/openssl.h"

namespace fairlead::tls {

class Context;

class Info final : public net::TlsInfo {
 public:
  explicit Info(std::shared_ptr<const Context> context) : context_(std::move(context)) {}

  SSL* ssl() const;
  bool hasSsl() const { return ssl_ != nullptr; }
  // Of what failed before OpenSSL had a say in it.
  void setVersion(uint16_t version) { version_ = version; }
  void setValidated(bool validated) { is_validated_ = validated; }
  void setFailure(std::string_view failure) { failure_ = failure; }
  // Whose certificate was not found to be good: OpenSSL forgets it.
  void keepRefused(X509* certificate) {
    X509_up_ref(certificate);
    refused_.reset(certificate);
  }

  // net::TlsInfo
  bool append(net::TlsValue value, std::string* out) const override;
  std::vector<std::string> peerNames(net::TlsValue value) const override;
  std::optional<int64_t> peerValidFrom() const override;
  uint16_t cipherNumber() const override;
  std::optional<int64_t> peerValidTo() const override;
  bool isPeerPresented() const override { return peer() != nullptr; }
  bool isPeerValidated() const override { return is_validated_; }
  std::string_view protocol() const override;
  std::string_view failure() const override { return failure_; }

 private:
  const X509* peer() const { return refused_ ? refused_.get() : SSL_get0_peer_certificate(ssl()); }
  bool appendOfConnection(net::TlsValue value, std::string* out) const;
  bool appendOfPeer(net::TlsValue value, std::string* out) const;
  X509* issuer() const;
  bool appendOfIssuer(net::TlsValue value, std::string* out) const;
  bool appendOfChain(net::TlsValue value, std::string* out) const;
  bool appendOfLocal(net::TlsValue value, std::string* out) const;
  template <typename Write>
  bool forChain(std::string* out, std::string_view separator, Write write) const;

  // Null once there is the state that it makes.
  mutable std::shared_ptr<const Context> context_;
  mutable SslPtr ssl_;
  // Null: none was refused.
  X509Ptr refused_;
  std::string_view failure_;
  // 0: OpenSSL knows.
  uint16_t version_ = 0;
  bool is_validated_ = false;
};

}  // namespace fairlead::tls
