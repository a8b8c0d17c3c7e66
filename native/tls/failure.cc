#include "tls/failure.h"

#include <cctype>
#include <mutex>
#include <unordered_set>

#include "tls/openssl.h"

namespace fairlead::tls {

namespace {

constexpr size_t kMaxKept = 1000;
// How the other library's numbers are made: of its part for TLS, and of reasons of its own.
constexpr unsigned long kLibrary = 16ul << 24;

struct Reason {
  int ours;
  unsigned long theirs;
  // Null: the same as ours.
  const char* name = nullptr;
};

// Alerts have the same numbers on both sides: 1000 and the alert.
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
    {SSL_R_NO_SHARED_GROUPS, 258, "NO_SHARED_GROUP"},
    {SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, 253, "NO_COMMON_SIGNATURE_ALGORITHMS"},
    {SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS, 253, "NO_COMMON_SIGNATURE_ALGORITHMS"},
};

// What the other library adds where a server does not take a client's hello.
constexpr std::string_view kRefusedHello =
    "|268435610:SSL routines:OPENSSL_internal:HANDSHAKE_FAILURE_ON_CLIENT_HELLO";

// "wrong version number" as WRONG_VERSION_NUMBER.
std::string constantOf(std::string_view words) {
  // As it was called before OpenSSL 3.2.
  constexpr std::string_view kAlert = "ssl/tls alert ";
  std::string name;
  if (words.starts_with(kAlert)) {
    name = "SSLV3_ALERT_";
    words.remove_prefix(kAlert.size());
  }
  for (const char c : words) {
    name.push_back(c == ' ' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c))));
  }
  return name;
}

std::string describe(unsigned long error) {
  const int reason = ERR_GET_REASON(error);
  const char* words = ERR_reason_error_string(error);
  std::string name = constantOf(words ? words : "unknown error");
  unsigned long number = static_cast<unsigned long>(reason);
  for (const Reason& known : kReasons) {
    if (known.ours != reason) continue;
    number = known.theirs;
    if (known.name) name = known.name;
  }
  return "|" + std::to_string(kLibrary | number) + ":SSL routines:OPENSSL_internal:" + name;
}

}  // namespace

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
  if (!failure.text.empty()) failure.text = "TLS_error:" + failure.text + ":TLS_error_end";
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
