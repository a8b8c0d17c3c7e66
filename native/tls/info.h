// What TLS knows of a connection: the state of OpenSSL's itself, which it owns. The connection's
// transport shares it with logs that are written when the connection is gone.
#pragma once

#include "net/tls_info.h"
#include "tls/openssl.h"

namespace fairlead::tls {

class Info final : public net::TlsInfo {
 public:
  explicit Info(SslPtr ssl) : ssl_(std::move(ssl)) {}

  SSL* ssl() const { return ssl_.get(); }
  void setValidated(bool validated) { is_validated_ = validated; }
  void setFailure(std::string_view failure) { failure_ = failure; }

  // net::TlsInfo
  bool append(net::TlsValue value, std::string* out) const override;
  std::optional<int64_t> peerValidFrom() const override;
  std::optional<int64_t> peerValidTo() const override;
  bool isPeerPresented() const override { return peer() != nullptr; }
  bool isPeerValidated() const override { return is_validated_; }
  std::string_view protocol() const override;
  std::string_view failure() const override { return failure_; }

 private:
  const X509* peer() const { return SSL_get0_peer_certificate(ssl_.get()); }
  bool appendOfConnection(net::TlsValue value, std::string* out) const;
  bool appendOfPeer(net::TlsValue value, std::string* out) const;
  bool appendOfChain(net::TlsValue value, std::string* out) const;
  bool appendOfLocal(net::TlsValue value, std::string* out) const;
  template <typename Write>
  bool forChain(std::string* out, std::string_view separator, Write write) const;

  const SslPtr ssl_;
  std::string_view failure_;
  bool is_validated_ = false;
};

}  // namespace fairlead::tls
