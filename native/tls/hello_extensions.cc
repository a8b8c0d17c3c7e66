#include "tls/hello_extensions.h"

#include <algorithm>
#include <array>

#include "tls/hello_reader.h"
#include "tls/openssl.h"

namespace fairlead::tls {

namespace {

constexpr LibraryError kBadExtension{149, "ERROR_PARSING_EXTENSION"};
constexpr LibraryError kBadExtensions{190, "PARSE_TLSEXT"};
constexpr LibraryError kBadCoding{137, "DECODE_ERROR"};

HelloCheck refusal(uint8_t alert, uint16_t version, LibraryError first, LibraryError second = {},
                   LibraryError third = {}) {
  return {.outcome = HelloCheck::Outcome::Refuse,
          .alert = alert,
          .version = version,
          .errors = {first, second, third}};
}

HelloCheck accepted() { return {.outcome = HelloCheck::Outcome::Begin}; }

struct FoundExtension {
  bool is_there = false;
  std::string_view body;
};
FoundExtension findExtension(std::string_view extensions, uint32_t wanted) {
  HelloReader reader(extensions);
  while (!reader.isAtEnd()) {
    const uint32_t type = reader.number(2);
    const std::string_view body = reader.vector(2);
    if (type == wanted) return {true, body};
  }
  return {};
}

bool hasTwice(std::string_view extensions) {
  // A hello of more than these is nobody's: OpenSSL says what is wrong with it.
  constexpr size_t kMany = 64;
  std::array<uint16_t, kMany> types;
  size_t count = 0;
  for (HelloReader reader(extensions); !reader.isAtEnd(); reader.vector(2)) {
    if (count == kMany) return false;
    types[count++] = static_cast<uint16_t>(reader.number(2));
  }
  std::sort(types.begin(), types.begin() + count);
  return std::adjacent_find(types.begin(), types.begin() + count) != types.begin() + count;
}

HelloCheck checkName(std::string_view extensions) {
  constexpr size_t kLongestName = 255;
  const FoundExtension found = findExtension(extensions, TLSEXT_TYPE_server_name);
  if (!found.is_there) return accepted();
  HelloReader reader(found.body);
  HelloReader names(reader.vector(2));
  const uint32_t type = names.number(1);
  const std::string_view name = names.vector(2);
  if (!reader.isDone() || !names.isDone()) return refusal(SSL_AD_DECODE_ERROR, 0, kBadExtension);
  if (type == TLSEXT_NAMETYPE_host_name && !name.empty() && name.size() <= kLongestName &&
      name.find('\0') == std::string_view::npos) {
    return accepted();
  }
  return refusal(SSL_AD_UNRECOGNIZED_NAME, 0, kBadExtension);
}

// The version that is spoken then; without one the hello is refused.
HelloCheck checkVersion(const HelloParts& parts, const HelloRules& rules, uint16_t* version) {
  const HelloCheck unsupported = refusal(SSL_AD_PROTOCOL_VERSION, 0, {240, "UNSUPPORTED_PROTOCOL"});
  const FoundExtension found = findExtension(parts.extensions, TLSEXT_TYPE_supported_versions);
  if (!found.is_there) {
    *version = std::min<uint16_t>(parts.version, TLS1_2_VERSION);
    *version = std::min(*version, rules.max_version);
    return *version < TLS1_VERSION || *version < rules.min_version ? unsupported : accepted();
  }
  HelloReader reader(found.body);
  const std::string_view offered = reader.vector(1);
  if (!reader.isDone() || offered.empty()) return refusal(SSL_AD_DECODE_ERROR, 0, kBadCoding);
  for (uint16_t ours = rules.max_version; ours >= rules.min_version; --ours) {
    HelloReader versions(offered);
    while (!versions.isAtEnd()) {
      const uint32_t theirs = versions.number(2);
      if (versions.hasFailed()) return refusal(SSL_AD_DECODE_ERROR, 0, kBadCoding);
      if (theirs != ours) continue;
      *version = ours;
      return accepted();
    }
  }
  return unsupported;
}

// A client that tries again with an older version, though the newer one would have done.
bool isFallback(std::string_view ciphers) {
  constexpr uint32_t kFallback = 0x5600;
  HelloReader reader(ciphers);
  while (!reader.isAtEnd()) {
    if (reader.number(2) == kFallback) return true;
  }
  return false;
}

// A list of numbers of two bytes: not empty, and nothing behind it.
HelloCheck checkNumbers(std::string_view body, uint16_t version) {
  HelloReader reader(body);
  const std::string_view list = reader.vector(2);
  if (!reader.isDone() || list.empty()) {
    return refusal(SSL_AD_DECODE_ERROR, version, kBadExtension, kBadExtensions);
  }
  if (list.size() % 2 == 0) return accepted();
  return refusal(SSL_AD_DECODE_ERROR, version, kBadCoding, kBadExtension, kBadExtensions);
}

HelloCheck checkRenegotiation(std::string_view body, uint16_t version) {
  HelloReader reader(body);
  const std::string_view verified = reader.vector(1);
  if (!reader.isDone()) {
    return refusal(SSL_AD_DECODE_ERROR, version, {201, "RENEGOTIATION_ENCODING_ERR"}, kBadExtension,
                   kBadExtensions);
  }
  if (verified.empty()) return accepted();
  return refusal(SSL_AD_HANDSHAKE_FAILURE, version, {202, "RENEGOTIATION_MISMATCH"}, kBadExtension,
                 kBadExtensions);
}

HelloCheck checkPointFormats(std::string_view body, uint16_t version) {
  HelloReader reader(body);
  const std::string_view formats = reader.vector(1);
  if (!reader.isDone()) {
    return refusal(SSL_AD_DECODE_ERROR, version, kBadExtension, kBadExtensions);
  }
  if (formats.find('\0') != std::string_view::npos) return accepted();
  return refusal(SSL_AD_ILLEGAL_PARAMETER, version, kBadExtension, kBadExtensions);
}

HelloCheck checkExtension(uint32_t type, std::string_view body, uint16_t version) {
  const bool is_new = version >= TLS1_3_VERSION;
  bool is_good = true;
  switch (type) {
    case TLSEXT_TYPE_supported_groups:
    case TLSEXT_TYPE_signature_algorithms:
      return checkNumbers(body, version);
    case TLSEXT_TYPE_renegotiate:
      return is_new ? accepted() : checkRenegotiation(body, version);
    case TLSEXT_TYPE_ec_point_formats:
      return is_new ? accepted() : checkPointFormats(body, version);
    case TLSEXT_TYPE_extended_master_secret:
      is_good = is_new || body.empty();
      break;
    case TLSEXT_TYPE_early_data:
      is_good = !is_new || body.empty();
      break;
    case TLSEXT_TYPE_signed_certificate_timestamp:
      is_good = body.empty();
      break;
    case TLSEXT_TYPE_status_request:
      is_good = !body.empty();
      break;
    case TLSEXT_TYPE_psk_kex_modes: {
      HelloReader reader(body);
      is_good = !reader.vector(1).empty() && reader.isDone();
      break;
    }
    default:
      break;
  }
  if (is_good) return accepted();
  return refusal(SSL_AD_DECODE_ERROR, version, kBadExtension, kBadExtensions);
}

bool isProtocolList(std::string_view body) {
  HelloReader reader(body);
  const std::string_view list = reader.vector(2);
  if (!reader.isDone() || list.empty()) return false;
  HelloReader protocols(list);
  while (!protocols.isAtEnd()) {
    if (protocols.vector(1).empty()) return false;
  }
  return !protocols.hasFailed();
}

}  // namespace

bool readHello(std::string_view message, HelloParts* parts) {
  constexpr size_t kRandom = 32;
  constexpr size_t kLongestSession = 32;
  HelloReader reader(message);
  parts->version = static_cast<uint16_t>(reader.number(2));
  reader.take(kRandom);
  if (reader.vector(1).size() > kLongestSession) return false;
  parts->ciphers = reader.vector(2);
  parts->compressions = reader.vector(1);
  if (reader.hasFailed() || parts->ciphers.empty() || parts->ciphers.size() % 2 != 0) return false;
  if (parts->compressions.empty()) return false;
  if (reader.isAtEnd()) return true;
  parts->extensions = reader.vector(2);
  if (!reader.isDone()) return false;
  HelloReader extensions(parts->extensions);
  while (!extensions.isAtEnd()) {
    extensions.number(2);
    extensions.vector(2);
  }
  return !extensions.hasFailed() && !hasTwice(parts->extensions);
}

HelloCheck checkParts(const HelloParts& parts, const HelloRules& rules) {
  using Outcome = HelloCheck::Outcome;
  HelloCheck check = checkName(parts.extensions);
  if (check.outcome != Outcome::Begin) return check;
  uint16_t version = 0;
  check = checkVersion(parts, rules, &version);
  if (check.outcome != Outcome::Begin) return check;
  if (version < rules.max_version && isFallback(parts.ciphers)) {
    constexpr uint8_t kInappropriateFallback = 86;
    return refusal(kInappropriateFallback, version, {157, "INAPPROPRIATE_FALLBACK"});
  }
  const bool takes_plain = parts.compressions.find('\0') != std::string_view::npos;
  if (!takes_plain || (version >= TLS1_3_VERSION && parts.compressions.size() != 1)) {
    return refusal(SSL_AD_ILLEGAL_PARAMETER, version, {256, "INVALID_COMPRESSION_LIST"});
  }
  HelloReader extensions(parts.extensions);
  while (!extensions.isAtEnd()) {
    const uint32_t type = extensions.number(2);
    check = checkExtension(type, extensions.vector(2), version);
    if (check.outcome != Outcome::Begin) return check;
  }
  const FoundExtension alpn =
      findExtension(parts.extensions, TLSEXT_TYPE_application_layer_protocol_negotiation);
  if (rules.has_protocols && alpn.is_there && !isProtocolList(alpn.body)) {
    return refusal(SSL_AD_DECODE_ERROR, version, kBadExtensions);
  }
  return accepted();
}

}  // namespace fairlead::tls
