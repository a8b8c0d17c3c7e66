#include "tls/ocsp_response.h"

#include <openssl/ocsp.h>

#include <utility>

#include "tls/names.h"

namespace fairlead::tls {

namespace {

using ResponsePtr = std::unique_ptr<OCSP_RESPONSE, FreeBy<OCSP_RESPONSE_free>>;
using BasicPtr = std::unique_ptr<OCSP_BASICRESP, FreeBy<OCSP_BASICRESP_free>>;

bool isOf(const OCSP_SINGLERESP* single, const X509* certificate) {
  ASN1_INTEGER* serial = nullptr;
  OCSP_id_get0_info(nullptr, nullptr, nullptr, &serial,
                    const_cast<OCSP_CERTID*>(OCSP_SINGLERESP_get0_id(single)));
  return serial && ASN1_INTEGER_cmp(serial, X509_get0_serialNumber(certificate)) == 0;
}

}  // namespace

Result<std::unique_ptr<const OcspResponse>> OcspResponse::read(const std::string& der,
                                                               const X509* certificate) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const unsigned char* const end = at + der.size();
  const ResponsePtr response(d2i_OCSP_RESPONSE(nullptr, &at, static_cast<long>(der.size())));
  const BasicPtr basic(response ? OCSP_response_get1_basic(response.get()) : nullptr);
  ERR_clear_error();
  if (!response || at != end) return Error{"Data contained more than a single OCSP response"};
  if (OCSP_response_status(response.get()) != OCSP_RESPONSE_STATUS_SUCCESSFUL) {
    return Error{"OCSP response was unsuccessful"};
  }
  if (!basic) return Error{"OCSP response has no body"};
  if (OCSP_resp_count(basic.get()) != 1) {
    return Error{"OCSP Response must be for one certificate only"};
  }
  OCSP_SINGLERESP* const single = OCSP_resp_get0(basic.get(), 0);
  if (!isOf(single, certificate)) {
    return Error{"OCSP response does not match its TLS certificate"};
  }
  ASN1_GENERALIZEDTIME* next_update = nullptr;
  OCSP_single_get0_status(single, nullptr, nullptr, nullptr, &next_update);
  return std::unique_ptr<const OcspResponse>(new OcspResponse(der, secondsOf(next_update)));
}

bool mustStaple(const X509* certificate) {
  return X509_get_ext_by_NID(certificate, NID_tlsfeature, -1) >= 0;
}

}  // namespace fairlead::tls
