#include "filters/listener/no_hello.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace fairlead::filters {

namespace {

constexpr size_t kRecordHead = 5;
constexpr size_t kMostRecord = 16 * 1024 + 256;
constexpr size_t kMostHello = 16 * 1024;

struct Problem {
  unsigned number;
  const char* name;
};

uint32_t bigEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

Problem problemOfAlert(std::string_view body) {
  constexpr uint8_t kFatal = 2;
  constexpr uint8_t kHandshakeFailure = 40;
  if (body.size() != 2) return {102, "BAD_ALERT"};
  if (static_cast<uint8_t>(body[0]) != kFatal) return {225, "UNEXPECTED_RECORD"};
  if (static_cast<uint8_t>(body[1]) != kHandshakeFailure) return {0, nullptr};
  return {1040, "SSLV3_ALERT_HANDSHAKE_FAILURE"};
}

Problem problemOfMessage(std::string_view body) {
  constexpr uint8_t kClientHello = 1;
  constexpr size_t kMessageHead = 4;
  if (body.size() >= kMessageHead && bigEndian(body.substr(1, 3)) > kMostHello) {
    return {150, "EXCESSIVE_MESSAGE_SIZE"};
  }
  if (!body.empty() && static_cast<uint8_t>(body[0]) != kClientHello) {
    return {223, "UNEXPECTED_MESSAGE"};
  }
  return {131, "CLIENTHELLO_PARSE_FAILED"};
}

Problem problemOf(std::string_view bytes, size_t* looked_at) {
  enum Kind : uint8_t { Alert = 21, Handshake = 22 };
  *looked_at = std::min(bytes.size(), kRecordHead);
  for (const std::string_view method : {"GET ", "POST ", "HEAD ", "PUT "}) {
    if (bytes.starts_with(method)) return {156, "HTTP_REQUEST"};
  }
  if (bytes.starts_with("CONNE")) return {155, "HTTPS_PROXY_REQUEST"};
  if (bytes.size() < kRecordHead) return {0, nullptr};
  if (bytes[1] != 3) return {247, "WRONG_VERSION_NUMBER"};
  const size_t size = bigEndian(bytes.substr(3, 2));
  if (size > kMostRecord) return {146, "ENCRYPTED_LENGTH_TOO_LONG"};
  const std::string_view body = bytes.substr(kRecordHead, size);
  *looked_at += body.size();
  const auto kind = static_cast<uint8_t>(bytes[0]);
  if (kind == Alert) return problemOfAlert(body);
  if (kind != Handshake) return {225, "UNEXPECTED_RECORD"};
  return problemOfMessage(body);
}

}  // namespace

NoHello explainNoHello(std::string_view bytes) {
  NoHello told;
  const Problem problem = problemOf(bytes, &told.looked_at);
  if (!problem.name) return told;
  constexpr unsigned kLibrary = 0x10000000;
  char text[128];
  std::snprintf(text, sizeof(text),
                "TLS_error|error:%08x:SSL routines:OPENSSL_internal:%s:TLS_error_end",
                kLibrary | problem.number, problem.name);
  told.reason = text;
  return told;
}

}  // namespace fairlead::filters
