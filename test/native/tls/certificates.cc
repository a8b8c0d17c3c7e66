#include "test/native/tls/certificates.h"

#include <openssl/ocsp.h>

#include "base/check.h"

namespace fairlead::test {

namespace {

using tls::BioPtr;
using tls::KeyPtr;
using tls::X509Ptr;

constexpr long kDaySeconds = 86'400;

KeyPtr makeKey(bool is_rsa) { return KeyPtr(is_rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256")); }

std::string textOf(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return std::string(bytes, static_cast<size_t>(size));
}

Identity pemOf(X509* certificate, EVP_PKEY* key) {
  const BioPtr out(BIO_new(BIO_s_mem()));
  const BioPtr key_out(BIO_new(BIO_s_mem()));
  FL_CHECK(PEM_write_bio_X509(out.get(), certificate) == 1);
  FL_CHECK(PEM_write_bio_PrivateKey(key_out.get(), key, nullptr, nullptr, 0, nullptr, nullptr) ==
           1);
  return {textOf(out.get()), textOf(key_out.get())};
}

void addExtension(X509* certificate, int kind, const std::string& value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  FL_CHECK(extension);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

X509Ptr makeCertificate(const std::string& name, EVP_PKEY* key, const X509* issuer, long days) {
  static long serial = 1;
  X509Ptr certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kDaySeconds * 2);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kDaySeconds * days);
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), issuer ? X509_get_subject_name(issuer) : subject);
  X509_set_pubkey(certificate.get(), key);
  return certificate;
}

}  // namespace

Authority::Authority(const std::string& name) : key_(makeKey(false)) {
  certificate_ = makeCertificate(name, key_.get(), nullptr, 100);
  addExtension(certificate_.get(), NID_basic_constraints, "critical,CA:TRUE");
  FL_CHECK(X509_sign(certificate_.get(), key_.get(), EVP_sha256()) > 0);
  own_ = pemOf(certificate_.get(), key_.get());
}

Identity Authority::sign(const std::string& common_name, const std::string& names, bool is_rsa,
                         long days, bool must_staple, const std::string& usage) const {
  const KeyPtr key = makeKey(is_rsa);
  const X509Ptr certificate = makeCertificate(common_name, key.get(), certificate_.get(), days);
  if (!names.empty()) addExtension(certificate.get(), NID_subject_alt_name, names);
  if (!usage.empty()) addExtension(certificate.get(), NID_key_usage, usage);
  if (must_staple) addExtension(certificate.get(), NID_tlsfeature, "status_request");
  FL_CHECK(X509_sign(certificate.get(), key_.get(), EVP_sha256()) > 0);
  return pemOf(certificate.get(), key.get());
}

std::string Authority::vouchFor(const Identity& identity, std::optional<long> good_for_s) const {
  using BasicPtr = std::unique_ptr<OCSP_BASICRESP, tls::FreeBy<OCSP_BASICRESP_free>>;
  using ResponsePtr = std::unique_ptr<OCSP_RESPONSE, tls::FreeBy<OCSP_RESPONSE_free>>;
  using IdPtr = std::unique_ptr<OCSP_CERTID, tls::FreeBy<OCSP_CERTID_free>>;
  using TimePtr = std::unique_ptr<ASN1_TIME, tls::FreeBy<ASN1_TIME_free>>;
  const BioPtr in = tls::readerOf(identity.certificate);
  const X509Ptr certificate(PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr));
  const BasicPtr basic(OCSP_BASICRESP_new());
  const IdPtr id(OCSP_cert_to_id(EVP_sha1(), certificate.get(), certificate_.get()));
  const TimePtr begin(X509_gmtime_adj(nullptr, -kDaySeconds));
  const TimePtr end(good_for_s ? X509_gmtime_adj(nullptr, *good_for_s) : nullptr);
  FL_CHECK(OCSP_basic_add1_status(basic.get(), id.get(), V_OCSP_CERTSTATUS_GOOD, 0, nullptr,
                                  begin.get(), end.get()));
  FL_CHECK(OCSP_basic_sign(basic.get(), certificate_.get(), key_.get(), EVP_sha256(), nullptr, 0) ==
           1);
  const ResponsePtr response(OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic.get()));
  unsigned char* der = nullptr;
  const int size = i2d_OCSP_RESPONSE(response.get(), &der);
  FL_CHECK(size > 0);
  std::string bytes(reinterpret_cast<char*>(der), static_cast<size_t>(size));
  OPENSSL_free(der);
  return bytes;
}

}  // namespace fairlead::test
