#include "tls/hello_check.h"

#include <algorithm>
#include <string>

#include "tls/hello_extensions.h"
#include "tls/hello_reader.h"
#include "tls/openssl.h"

namespace fairlead::tls {

namespace {

constexpr size_t kHelloRecordHead = 5;
constexpr size_t kHelloMessageHead = 4;

HelloCheck refused(uint8_t alert, LibraryError error) {
  HelloCheck check{.outcome = HelloCheck::Outcome::Refuse, .alert = alert};
  check.errors[0] = error;
  return check;
}

// One record after the other, as long as they are whole.
class HelloRecords {
 public:
  HelloRecords(std::string_view bytes, const HelloRules& rules) : bytes_(bytes), rules_(rules) {}

  HelloCheck check() {
    if (bytes_.size() < kHelloRecordHead) return {};
    for (const std::string_view method : {"GET ", "POST ", "HEAD ", "PUT "}) {
      if (bytes_.starts_with(method)) return refused(0, {156, "HTTP_REQUEST"});
    }
    if (bytes_.starts_with("CONNE")) return refused(0, {155, "HTTPS_PROXY_REQUEST"});
    // The hello of version 2, which offers a later one.
    constexpr unsigned char kLongHead = 0x80;
    if ((at(0) & kLongHead) != 0 && at(2) == 1 && at(3) == 3) return begin();
    while (bytes_.size() - done_ >= kHelloRecordHead) {
      if (const HelloCheck check = checkRecord(); check.outcome != HelloCheck::Outcome::Wait) {
        return check;
      }
      if (is_cut_) break;
    }
    return {.outcome = HelloCheck::Outcome::Wait, .skipped = skipped_};
  }

 private:
  uint8_t at(size_t i) const { return static_cast<uint8_t>(bytes_[i]); }
  HelloCheck begin() const { return {.outcome = HelloCheck::Outcome::Begin, .skipped = skipped_}; }

  // Wait: it was in order, and the next one is wanted.
  HelloCheck checkRecord() {
    constexpr size_t kMostPlain = 16 * 1024;
    constexpr size_t kMostEncrypted = kMostPlain + 320;
    constexpr int kMostEmpty = 32;
    constexpr uint8_t kOfAlerts = 21;
    constexpr uint8_t kOfHandshakes = 22;
    if (at(done_ + 1) != 3) {
      return refused(SSL_AD_PROTOCOL_VERSION, {247, "WRONG_VERSION_NUMBER"});
    }
    const size_t size = static_cast<size_t>(at(done_ + 3)) << 8 | at(done_ + 4);
    if (size > kMostEncrypted) {
      return refused(SSL_AD_RECORD_OVERFLOW, {146, "ENCRYPTED_LENGTH_TOO_LONG"});
    }
    const uint8_t type = at(done_);
    if (bytes_.size() - done_ - kHelloRecordHead < size) {
      is_cut_ = true;
      return {};
    }
    if (size > kMostPlain) return refused(SSL_AD_RECORD_OVERFLOW, {136, "DATA_LENGTH_TOO_LONG"});
    const std::string_view body = bytes_.substr(done_ + kHelloRecordHead, size);
    done_ += kHelloRecordHead + size;
    empty_records_ = body.empty() ? empty_records_ + 1 : 0;
    if (empty_records_ > kMostEmpty) {
      return refused(SSL_AD_UNEXPECTED_MESSAGE, {219, "TOO_MANY_EMPTY_FRAGMENTS"});
    }
    if (type == kOfAlerts) return checkAlert(body);
    warnings_ = 0;
    if (type != kOfHandshakes) {
      return refused(SSL_AD_UNEXPECTED_MESSAGE, {225, "UNEXPECTED_RECORD"});
    }
    return take(body);
  }

  HelloCheck checkAlert(std::string_view body) {
    constexpr uint8_t kWarning = 1;
    constexpr uint8_t kFatal = 2;
    constexpr unsigned kMostWarnings = 4;
    constexpr unsigned kErrorsOfAlerts = 1000;
    if (body.size() != 2) return refused(SSL_AD_DECODE_ERROR, {102, "BAD_ALERT"});
    const auto alert = static_cast<uint8_t>(body[1]);
    switch (static_cast<uint8_t>(body[0])) {
      case kWarning:
        if (alert == SSL_AD_CLOSE_NOTIFY) return {.outcome = HelloCheck::Outcome::Goodbye};
        if (++warnings_ > kMostWarnings) {
          return refused(SSL_AD_UNEXPECTED_MESSAGE, {220, "TOO_MANY_WARNING_ALERTS"});
        }
        if (message_.empty() && parts_ == 0) skipped_ = done_;
        return {};
      case kFatal:
        return refused(0, {kErrorsOfAlerts + alert, nullptr});
      default:
        return refused(SSL_AD_ILLEGAL_PARAMETER, {227, "UNKNOWN_ALERT_TYPE"});
    }
  }

  // A message of one record is not copied.
  HelloCheck take(std::string_view body) {
    if (parts_++ == 0) {
      message_ = body;
    } else {
      if (parts_ == 2) joined_ = message_;
      joined_ += body;
      message_ = joined_;
    }
    constexpr uint32_t kMostMessage = 16 * 1024;
    constexpr uint32_t kMostWithCertificates = 100 * 1024;
    if (message_.size() < kHelloMessageHead) return {};
    const uint32_t size = HelloReader(message_.substr(1)).number(3);
    if (message_.size() - kHelloMessageHead < size) {
      const uint32_t most = rules_.asks_for_certificate ? kMostWithCertificates : kMostMessage;
      if (size <= most) return {};
      return refused(SSL_AD_ILLEGAL_PARAMETER, {150, "EXCESSIVE_MESSAGE_SIZE"});
    }
    constexpr char kClientsHello = 1;
    if (message_[0] != kClientsHello) {
      return refused(SSL_AD_UNEXPECTED_MESSAGE, {223, "UNEXPECTED_MESSAGE"});
    }
    const std::string_view hello = message_.substr(kHelloMessageHead, size);
    const bool is_all = message_.size() == kHelloMessageHead + size;
    HelloCheck check = checkMessage(hello, is_all);
    if (check.outcome == HelloCheck::Outcome::Begin) check.skipped = skipped_;
    return check;
  }

  HelloCheck checkMessage(std::string_view hello, bool is_all) const {
    HelloParts parts;
    if (!readHello(hello, &parts)) {
      return refused(SSL_AD_DECODE_ERROR, {131, "CLIENTHELLO_PARSE_FAILED"});
    }
    if (!is_all) return refused(SSL_AD_UNEXPECTED_MESSAGE, {255, "EXCESS_HANDSHAKE_DATA"});
    return checkParts(parts, rules_);
  }

  const std::string_view bytes_;
  const HelloRules& rules_;
  size_t done_ = 0;
  size_t skipped_ = 0;
  bool is_cut_ = false;
  int empty_records_ = 0;
  unsigned warnings_ = 0;
  int parts_ = 0;
  std::string_view message_;
  std::string joined_;
};

}  // namespace

HelloCheck checkHello(std::string_view bytes, const HelloRules& rules) {
  return HelloRecords(bytes, rules).check();
}

}  // namespace fairlead::tls
