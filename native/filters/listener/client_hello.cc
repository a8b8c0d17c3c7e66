#include "filters/listener/client_hello.h"

#include <algorithm>
#include <cstdio>

#include "base/hex.h"
#include "base/text.h"
#include "tls/hello_reader.h"
#include "tls/names.h"

namespace fairlead::filters {

namespace {

constexpr uint8_t kHandshakeRecord = 22;
constexpr uint8_t kClientHelloType = 1;
constexpr size_t kRecordHeadBytes = 5;
constexpr size_t kMessageHeadBytes = 4;
constexpr size_t kMaxRecordBytes = 16 * 1024 + 256;
constexpr size_t kRandomBytes = 32;

enum HelloExtension : uint16_t {
  kServerName = 0,
  kGroups = 10,
  kPointFormats = 11,
  kSignatures = 13,
  kAlpn = 16,
  kVersions = 43,
};

using tls::HelloReader;

std::vector<uint16_t> numbersOf(std::string_view list) {
  std::vector<uint16_t> values;
  for (HelloReader reader(list); !reader.isAtEnd();) {
    values.push_back(static_cast<uint16_t>(reader.number(2)));
  }
  return values;
}

void readExtension(uint16_t type, HelloReader body, ClientHello* hello) {
  switch (type) {
    case kServerName: {
      HelloReader names(body.vector(2));
      // A host's name is type 0, and the only one there is.
      if (!names.isAtEnd() && names.number(1) == 0) {
        for (const char c : names.vector(2)) hello->server_name.push_back(lowerAscii(c));
      }
      return;
    }
    case kAlpn:
      for (HelloReader list(body.vector(2)); !list.isAtEnd();) {
        hello->protocols.emplace_back(list.vector(1));
      }
      return;
    case kGroups:
      hello->groups = numbersOf(body.vector(2));
      return;
    case kSignatures:
      hello->signatures = numbersOf(body.vector(2));
      return;
    case kVersions:
      hello->versions = numbersOf(body.vector(1));
      return;
    case kPointFormats:
      for (const char format : body.vector(1)) {
        hello->point_formats.push_back(static_cast<uint8_t>(format));
      }
      return;
    default:
      return;
  }
}

bool readMessage(std::string_view message, ClientHello* hello) {
  HelloReader reader(message);
  hello->version = static_cast<uint16_t>(reader.number(2));
  if (hello->version >> 8 != 3) return false;
  reader.take(kRandomBytes);
  reader.vector(1);  // A session's id.
  hello->ciphers = numbersOf(reader.vector(2));
  reader.vector(1);  // Ways to compress.
  if (reader.hasFailed() || hello->ciphers.empty()) return false;
  if (reader.isAtEnd()) return true;
  HelloReader extensions(reader.vector(2));
  while (!extensions.isAtEnd()) {
    const auto type = static_cast<uint16_t>(extensions.number(2));
    hello->extensions.push_back(type);
    readExtension(type, HelloReader(extensions.vector(2)), hello);
  }
  return !reader.hasFailed() && !extensions.hasFailed();
}

// Values that clients make up so that servers take what they do not know.
bool isGrease(uint16_t value) { return (value & 0x0f0f) == 0x0a0a && value >> 8 == (value & 0xff); }

template <typename Values>
std::string joinedPlain(const Values& values) {
  std::string text;
  for (const auto value : values) {
    if (isGrease(value)) continue;
    if (!text.empty()) text.push_back('-');
    text += std::to_string(value);
  }
  return text;
}

std::string joinedHex(const std::vector<uint16_t>& values) {
  std::string text;
  for (const uint16_t value : values) {
    char hex[8];
    std::snprintf(hex, sizeof(hex), "%s%04x", text.empty() ? "" : ",", value);
    text += hex;
  }
  return text;
}

std::string hexDigest(std::string_view text, const EVP_MD* digest) {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), bytes, &size, digest, nullptr);
  return hexOf({reinterpret_cast<char*>(bytes), size});
}

// 12 digits of SHA-256; of nothing it is zeros.
std::string shortHash(const std::string& text) {
  return text.empty() ? std::string(12, '0') : hexDigest(text, EVP_sha256()).substr(0, 12);
}

std::vector<uint16_t> withoutGrease(const std::vector<uint16_t>& values) {
  std::vector<uint16_t> plain;
  std::copy_if(values.begin(), values.end(), std::back_inserter(plain),
               [](uint16_t value) { return !isGrease(value); });
  return plain;
}

const char* versionName(const ClientHello& hello) {
  uint16_t version = hello.version;
  for (const uint16_t offered : withoutGrease(hello.versions)) {
    version = std::max(version, offered);
  }
  switch (version) {
    case 0x0304:
      return "13";
    case 0x0303:
      return "12";
    case 0x0302:
      return "11";
    case 0x0301:
      return "10";
    case 0x0300:
      return "s3";
    default:
      return "00";
  }
}

// The first and the last character of the first protocol.
std::string protocolName(const ClientHello& hello) {
  if (hello.protocols.empty() || hello.protocols.front().empty()) return "00";
  const std::string& name = hello.protocols.front();
  const auto isPlain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  if (isPlain(name.front()) && isPlain(name.back())) return {name.front(), name.back()};
  const std::string hex = hexOf(name);
  return {hex.front(), hex.back()};
}

}  // namespace

HelloRead readClientHello(std::string_view bytes, size_t max_bytes, ClientHello* hello) {
  std::string message;
  while (!bytes.empty()) {
    // As the real server has it, less than a head may still become anything.
    if (bytes.size() < kRecordHeadBytes) return HelloRead::Unfinished;
    if (static_cast<uint8_t>(bytes[0]) != kHandshakeRecord) return HelloRead::NotTls;
    if (bytes[1] != 3) return HelloRead::NotTls;
    HelloReader head(bytes.substr(3, 2));
    const size_t size = head.number(2);
    if (size == 0 || size > kMaxRecordBytes) return HelloRead::NotTls;
    bytes.remove_prefix(kRecordHeadBytes);
    message.append(bytes.substr(0, size));
    const bool is_whole = bytes.size() >= size;
    bytes.remove_prefix(std::min(size, bytes.size()));
    if (!message.empty() && static_cast<uint8_t>(message[0]) != kClientHelloType) {
      return HelloRead::NotTls;
    }
    if (message.size() >= kMessageHeadBytes) {
      const size_t wanted = HelloReader(std::string_view(message).substr(1, 3)).number(3);
      if (wanted + kMessageHeadBytes > max_bytes) return HelloRead::TooLarge;
      if (message.size() >= kMessageHeadBytes + wanted) {
        const auto body = std::string_view(message).substr(kMessageHeadBytes, wanted);
        return readMessage(body, hello) ? HelloRead::Found : HelloRead::NotTls;
      }
    }
    if (!is_whole) return HelloRead::Unfinished;
  }
  return HelloRead::Unfinished;
}

std::string ja3Of(const ClientHello& hello) {
  return hexDigest(std::to_string(hello.version) + "," + joinedPlain(hello.ciphers) + "," +
                       joinedPlain(hello.extensions) + "," + joinedPlain(hello.groups) + "," +
                       joinedPlain(hello.point_formats),
                   EVP_md5());
}

std::string ja4Of(const ClientHello& hello) {
  std::vector<uint16_t> ciphers = withoutGrease(hello.ciphers);
  std::vector<uint16_t> extensions = withoutGrease(hello.extensions);
  char counts[8];
  std::snprintf(counts, sizeof(counts), "%02u%02u",
                static_cast<unsigned>(std::min<size_t>(ciphers.size(), 99)),
                static_cast<unsigned>(std::min<size_t>(extensions.size(), 99)));
  const bool has_name =
      std::find(extensions.begin(), extensions.end(), kServerName) != extensions.end();
  std::sort(ciphers.begin(), ciphers.end());
  std::erase_if(extensions, [](uint16_t type) { return type == kServerName || type == kAlpn; });
  std::sort(extensions.begin(), extensions.end());
  std::string offered = joinedHex(extensions);
  if (!hello.signatures.empty()) offered += "_" + joinedHex(withoutGrease(hello.signatures));
  return std::string("t") + versionName(hello) + (has_name ? "d" : "i") + counts +
         protocolName(hello) + "_" + shortHash(joinedHex(ciphers)) + "_" + shortHash(offered);
}

}  // namespace fairlead::filters
