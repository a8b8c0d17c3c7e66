#include "tls/names.h"

#include <arpa/inet.h>
#include <strings.h>

#include <algorithm>
#include <ctime>

#include "base/hex.h"

namespace fairlead::tls {

namespace {

std::string textOf(const X509_NAME* name) {
  BioPtr out(BIO_new(BIO_s_mem()));
  if (!name || X509_NAME_entry_count(name) == 0 ||
      X509_NAME_print_ex(out.get(), name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) < 0) {
    return {};
  }
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(out.get(), &bytes);
  return std::string(bytes, static_cast<size_t>(size));
}

std::string bytesOf(const ASN1_STRING* text) {
  return std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                     static_cast<size_t>(ASN1_STRING_length(text)));
}

std::string addressText(const ASN1_OCTET_STRING* bytes) {
  char text[INET6_ADDRSTRLEN] = "";
  const int size = ASN1_STRING_length(bytes);
  const int family = size == 4 ? AF_INET : size == 16 ? AF_INET6 : 0;
  if (family == 0) return {};
  ::inet_ntop(family, ASN1_STRING_get0_data(bytes), text, sizeof(text));
  return text;
}

std::string oidText(const ASN1_OBJECT* object) {
  char text[128];
  const int size = OBJ_obj2txt(text, sizeof(text), object, 1);
  return size > 0 ? std::string(text, std::min<size_t>(static_cast<size_t>(size), sizeof(text) - 1))
                  : std::string();
}

// Of those types that are text of some kind.
std::string otherNameText(const ASN1_TYPE* value) {
  switch (value->type) {
    case V_ASN1_UTF8STRING:
    case V_ASN1_PRINTABLESTRING:
    case V_ASN1_IA5STRING:
    case V_ASN1_T61STRING:
    case V_ASN1_VISIBLESTRING:
    case V_ASN1_NUMERICSTRING:
    case V_ASN1_GENERALSTRING:
    case V_ASN1_OCTET_STRING:
      return bytesOf(value->value.asn1_string);
    case V_ASN1_BMPSTRING:
    case V_ASN1_UNIVERSALSTRING: {
      unsigned char* text = nullptr;
      const int size = ASN1_STRING_to_UTF8(&text, value->value.asn1_string);
      std::string result;
      if (size >= 0) result.assign(reinterpret_cast<char*>(text), static_cast<size_t>(size));
      OPENSSL_free(text);
      return result;
    }
    case V_ASN1_BOOLEAN:
      return value->value.boolean ? "true" : "false";
    default:
      return {};
  }
}

}  // namespace

std::string subjectText(const X509* certificate) {
  return textOf(X509_get_subject_name(certificate));
}

std::string issuerText(const X509* certificate) {
  return textOf(X509_get_issuer_name(certificate));
}

std::string serialText(const X509* certificate) {
  const ASN1_INTEGER* serial = X509_get0_serialNumber(certificate);
  const std::string hex = hexOf(bytesOf(serial));
  // Whole bytes, as the real server writes them.
  const size_t first = hex.find_first_not_of('0');
  if (first == std::string::npos) return "0";
  return (ASN1_STRING_type(serial) & V_ASN1_NEG ? "-" : "") + hex.substr(first & ~size_t{1});
}

std::string commonName(const X509* certificate) {
  const X509_NAME* subject = X509_get_subject_name(certificate);
  int last = -1;
  for (int i = -1; (i = X509_NAME_get_index_by_NID(subject, NID_commonName, i)) >= 0;) last = i;
  if (last < 0) return {};
  return bytesOf(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, last)));
}

std::vector<SubjectName> subjectNames(const X509* certificate) {
  std::vector<SubjectName> result;
  const NamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  ERR_clear_error();
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    switch (name->type) {
      case GEN_DNS:
      case GEN_URI:
      case GEN_EMAIL:
        result.push_back({name->type, bytesOf(name->d.ia5)});
        break;
      case GEN_IPADD:
        result.push_back({name->type, addressText(name->d.iPAddress)});
        break;
      case GEN_OTHERNAME:
        result.push_back({name->type, otherNameText(name->d.otherName->value),
                          oidText(name->d.otherName->type_id)});
        break;
      default:
        break;
    }
  }
  return result;
}

std::string digestOf(const X509* certificate, const EVP_MD* digest) {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (X509_digest(certificate, digest, bytes, &size) != 1) return {};
  return std::string(reinterpret_cast<char*>(bytes), size);
}

std::string keyDigestOf(const X509* certificate) {
  unsigned char* der = nullptr;
  const int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der);
  if (size < 0) return {};
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned digest_size = 0;
  EVP_Digest(der, static_cast<size_t>(size), bytes, &digest_size, EVP_sha256(), nullptr);
  OPENSSL_free(der);
  return std::string(reinterpret_cast<char*>(bytes), digest_size);
}

std::optional<int64_t> secondsOf(const ASN1_TIME* time) {
  tm parts = {};
  if (!time || ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
  return static_cast<int64_t>(::timegm(&parts));
}

bool dnsNameFits(std::string_view pattern, std::string_view name) {
  const auto same = [](std::string_view one, std::string_view other) {
    return one.size() == other.size() && ::strncasecmp(one.data(), other.data(), one.size()) == 0;
  };
  if (same(pattern, name)) return true;
  if (!pattern.starts_with("*.")) return false;
  // It stands for one label.
  const size_t dot = name.find('.');
  return dot != std::string_view::npos && dot > 0 && same(pattern.substr(1), name.substr(dot));
}

}  // namespace fairlead::tls
