// OpenSSL's objects with owners, and its errors as text. What is linked is what Node exports: in
// tests and tools without Node, a libssl of the same major version.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

namespace fairlead::tls {

template <auto kFree>
struct FreeBy {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using SslPtr = std::unique_ptr<SSL, FreeBy<SSL_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, FreeBy<SSL_CTX_free>>;
using SessionPtr = std::unique_ptr<SSL_SESSION, FreeBy<SSL_SESSION_free>>;
using X509Ptr = std::unique_ptr<X509, FreeBy<X509_free>>;
using StorePtr = std::unique_ptr<X509_STORE, FreeBy<X509_STORE_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeBy<EVP_PKEY_free>>;
using BioPtr = std::unique_ptr<BIO, FreeBy<BIO_free_all>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, FreeBy<GENERAL_NAMES_free>>;

// Reads `bytes`, which outlive it.
inline BioPtr readerOf(std::string_view bytes) {
  return BioPtr(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

// The first reason that OpenSSL gives for what just failed, which is forgotten then.
inline std::string takeReason() {
  const unsigned long error = ERR_get_error();
  const char* reason = ERR_reason_error_string(error);
  ERR_clear_error();
  return reason ? reason : "unknown error";
}

}  // namespace fairlead::tls
