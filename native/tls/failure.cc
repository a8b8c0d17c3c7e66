#include "tls/failure.h"

#include <cctype>
#include <mutex>
#include <system_error>
#include <unordered_set>

#include "tls/openssl.h"

namespace fairlead::tls {

namespace {

constexpr size_t kMaxKept = 1000;
// How the other library's numbers are made: of its part for TLS, and of reasons of its own.
constexpr unsigned long kLibrary = 16ul << 24;
constexpr unsigned long kSystemLibrary = 2ul << 24;

struct Reason {
  int ours;
  unsigned long theirs;
  // Null: the same as ours.
  const char* name = nullptr;
};

constexpr Reason kReasons[] = {
    {SSL_R_BAD_CHANGE_CIPHER_SPEC, 103},
    {SSL_R_BAD_DIGEST_LENGTH, 106},
    {SSL_R_BAD_LENGTH, 111},
    {SSL_R_PACKET_LENGTH_TOO_LONG, 150, "EXCESSIVE_MESSAGE_SIZE"},
    {SSL_R_BAD_SIGNATURE, 114},
    {SSL_R_CERTIFICATE_VERIFY_FAILED, 125},
    {SSL_R_CERT_CB_ERROR, 133, "CONNECTION_REJECTED"},
    {SSL_R_CLIENTHELLO_TLSEXT, 132},
    {SSL_R_DATA_LENGTH_TOO_LONG, 136},
    {SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, 139},
    {SSL_R_DIGEST_CHECK_FAILED, 142},
    {SSL_R_ENCRYPTED_LENGTH_TOO_LONG, 146},
    {SSL_R_EXCESSIVE_MESSAGE_SIZE, 150},
    {SSL_R_HTTPS_PROXY_REQUEST, 155},
    {SSL_R_HTTP_REQUEST, 156},
    {SSL_R_LENGTH_MISMATCH, 159},
    {SSL_R_NO_CIPHERS_AVAILABLE, 175},
    {SSL_R_NO_PROTOCOLS_AVAILABLE, 280, "NO_SUPPORTED_VERSIONS_ENABLED"},
    {SSL_R_NO_CIPHERS_SPECIFIED, 177},
    {SSL_R_NO_RENEGOTIATION, 182},
    {SSL_R_NO_SHARED_CIPHER, 184},
    {SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, 192},
    {SSL_R_UNEXPECTED_MESSAGE, 223},
    {SSL_R_UNEXPECTED_RECORD, 225},
    {SSL_R_UNKNOWN_PROTOCOL, 240, "UNSUPPORTED_PROTOCOL"},
    {SSL_R_UNSUPPORTED_PROTOCOL, 240},
    {SSL_R_VERSION_TOO_LOW, 240, "UNSUPPORTED_PROTOCOL"},
    {SSL_R_WRONG_CIPHER_RETURNED, 242},
    {SSL_R_WRONG_CURVE, 243},
    {SSL_R_WRONG_SIGNATURE_TYPE, 245},
    {SSL_R_WRONG_VERSION_NUMBER, 247},
    {SSL_R_NO_SHARED_GROUPS, 266, "NO_SHARED_GROUP"},
    {SSL_R_NO_SUITABLE_KEY_SHARE, 266, "NO_SHARED_GROUP"},
    {SSL_R_MISSING_SUPPORTED_GROUPS_EXTENSION, 266, "NO_SHARED_GROUP"},
    {SSL_R_MISSING_SIGALGS_EXTENSION, 253, "NO_COMMON_SIGNATURE_ALGORITHMS"},
    {SSL_R_MISSING_PSK_KEX_MODES_EXTENSION, 164, "MISSING_EXTENSION"},
    {SSL_R_BAD_ECPOINT, 108},
    {SSL_R_BAD_KEY_SHARE, 108, "BAD_ECPOINT"},
    {SSL_R_BAD_EXTENSION, 149, "ERROR_PARSING_EXTENSION"},
    {SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, 253, "NO_COMMON_SIGNATURE_ALGORITHMS"},
    {SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS, 253, "NO_COMMON_SIGNATURE_ALGORITHMS"},
};

// What the other library adds where a server does not take a client's hello.
constexpr std::string_view kRefusedHello =
    "|268435610:SSL routines:OPENSSL_internal:HANDSHAKE_FAILURE_ON_CLIENT_HELLO";

// Alerts of peers have the same numbers on both sides.
constexpr int kAlertReasons = 1000;
constexpr LibraryError kAlertNames[] = {
    {0, "SSLV3_ALERT_CLOSE_NOTIFY"},
    {10, "SSLV3_ALERT_UNEXPECTED_MESSAGE"},
    {20, "SSLV3_ALERT_BAD_RECORD_MAC"},
    {21, "TLSV1_ALERT_DECRYPTION_FAILED"},
    {22, "TLSV1_ALERT_RECORD_OVERFLOW"},
    {30, "SSLV3_ALERT_DECOMPRESSION_FAILURE"},
    {40, "SSLV3_ALERT_HANDSHAKE_FAILURE"},
    {41, "SSLV3_ALERT_NO_CERTIFICATE"},
    {42, "SSLV3_ALERT_BAD_CERTIFICATE"},
    {43, "SSLV3_ALERT_UNSUPPORTED_CERTIFICATE"},
    {44, "SSLV3_ALERT_CERTIFICATE_REVOKED"},
    {45, "SSLV3_ALERT_CERTIFICATE_EXPIRED"},
    {46, "SSLV3_ALERT_CERTIFICATE_UNKNOWN"},
    {47, "SSLV3_ALERT_ILLEGAL_PARAMETER"},
    {48, "TLSV1_ALERT_UNKNOWN_CA"},
    {49, "TLSV1_ALERT_ACCESS_DENIED"},
    {50, "TLSV1_ALERT_DECODE_ERROR"},
    {51, "TLSV1_ALERT_DECRYPT_ERROR"},
    {60, "TLSV1_ALERT_EXPORT_RESTRICTION"},
    {70, "TLSV1_ALERT_PROTOCOL_VERSION"},
    {71, "TLSV1_ALERT_INSUFFICIENT_SECURITY"},
    {80, "TLSV1_ALERT_INTERNAL_ERROR"},
    {86, "TLSV1_ALERT_INAPPROPRIATE_FALLBACK"},
    {90, "TLSV1_ALERT_USER_CANCELLED"},
    {100, "TLSV1_ALERT_NO_RENEGOTIATION"},
    {110, "TLSV1_ALERT_UNSUPPORTED_EXTENSION"},
    {111, "TLSV1_ALERT_CERTIFICATE_UNOBTAINABLE"},
    {112, "TLSV1_ALERT_UNRECOGNIZED_NAME"},
    {113, "TLSV1_ALERT_BAD_CERTIFICATE_STATUS_RESPONSE"},
    {114, "TLSV1_ALERT_BAD_CERTIFICATE_HASH_VALUE"},
    {115, "TLSV1_ALERT_UNKNOWN_PSK_IDENTITY"},
    {116, "TLSV1_ALERT_CERTIFICATE_REQUIRED"},
    {120, "TLSV1_ALERT_NO_APPLICATION_PROTOCOL"},
};

const char* nameOfAlert(unsigned reason) {
  for (const LibraryError& known : kAlertNames) {
    if (known.number + kAlertReasons == reason) return known.name;
  }
  return "unknown error";
}

// "wrong version number" as WRONG_VERSION_NUMBER.
std::string constantOf(std::string_view words) {
  std::string name;
  for (const char c : words) {
    name.push_back(c == ' ' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c))));
  }
  return name;
}

std::string describeAs(unsigned long number, std::string_view name) {
  std::string text = "|" + std::to_string(kLibrary | number) + ":SSL routines:OPENSSL_internal:";
  return text.append(name);
}

std::string describe(unsigned long error) {
  const int reason = ERR_GET_REASON(error);
  if (reason >= kAlertReasons) {
    return describeAs(static_cast<unsigned long>(reason),
                      nameOfAlert(static_cast<unsigned>(reason)));
  }
  const char* words = ERR_reason_error_string(error);
  std::string name = constantOf(words ? words : "unknown error");
  unsigned long number = static_cast<unsigned long>(reason);
  for (const Reason& known : kReasons) {
    if (known.ours != reason) continue;
    number = known.theirs;
    if (known.name) name = known.name;
  }
  return describeAs(number, name);
}

std::string enclosed(const std::string& errors) { return "TLS_error:" + errors + ":TLS_error_end"; }

}  // namespace

std::string textOf(std::span<const LibraryError> errors) {
  std::string text;
  for (const LibraryError& error : errors) {
    if (error.number == 0) break;
    text += describeAs(error.number, error.name ? error.name : nameOfAlert(error.number));
  }
  return enclosed(text);
}

std::string textOfSocket(int error) {
  const unsigned long number = kSystemLibrary | static_cast<unsigned long>(error);
  const std::string words = std::error_code(error, std::generic_category()).message();
  return enclosed("|" + std::to_string(number) + ":system library:OPENSSL_internal:" + words);
}

Failure takeFailure(std::string_view details, bool awaits_hello) {
  Failure failure;
  while (const unsigned long error = ERR_get_error()) {
    failure.has_errors = true;
    if (ERR_GET_LIB(error) == ERR_LIB_SYS) {
      failure.is_counted = true;
      continue;
    }
    if (ERR_GET_LIB(error) != ERR_LIB_SSL) continue;
    const int reason = ERR_GET_REASON(error);
    // It says again what is said already.
    if (!failure.text.empty() && reason == ERR_R_INTERNAL_ERROR) continue;
    failure.text += describe(error);
    if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
      failure.lacks_certificate = failure.is_counted = true;
      failure.text += ":peer did not provide required client certificate";
    } else if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
      failure.is_counted = true;
      if (!details.empty()) failure.text.append(":").append(details);
    } else if (reason == SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE && awaits_hello) {
      failure.text += kRefusedHello;
    } else if (reason == SSL_R_WRONG_VERSION_NUMBER) {
      failure.is_wrong_version = true;
    }
  }
  if (!failure.text.empty()) failure.text = enclosed(failure.text);
  return failure;
}

std::string_view keepText(std::string text) {
  if (text.empty()) return {};
  // What this thread has had before takes no lock.
  static thread_local std::unordered_set<std::string_view> known;
  const auto found = known.find(text);
  if (found != known.end()) return *found;
  static std::mutex& mutex = *new std::mutex;
  static std::unordered_set<std::string>& all = *new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  if (all.size() >= kMaxKept && !all.contains(text)) return "TLS_error";
  return *known.insert(*all.insert(std::move(text)).first).first;
}

}  // namespace fairlead::tls
