// Before a handshake: a client's first message, which is looked at before OpenSSL has it.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "log/log.h"
#include "tls/failure.h"
#include "tls/transport.h"

namespace fairlead::tls {

namespace {

HelloRules rulesOf(const Context& context) {
  const plan::TlsContext& plan = context.plan();
  const auto version = [](uint32_t of_plan, int otherwise) {
    return static_cast<uint16_t>(of_plan != 0 ? of_plan : static_cast<uint32_t>(otherwise));
  };
  const Verifier* const verifier = context.verifier();
  return {.min_version = std::max<uint16_t>(version(plan.min_version, TLS1_VERSION), TLS1_VERSION),
          .max_version = version(plan.max_version, TLS1_3_VERSION),
          .has_protocols = context.hasProtocols(),
          .asks_for_certificate = verifier && verifier->mode() != SSL_VERIFY_NONE};
}

}  // namespace

// Of who has not said enough, or not the right thing, for a handshake to begin.
void Transport::dropWaiting(int fd) {
  constexpr int kReads = 8;
  char bytes[8192];
  for (int i = 0; i < kReads; ++i) {
    const ssize_t got = ::recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (got < static_cast<ssize_t>(sizeof(bytes))) return;
  }
}

// Not while nothing has come, or half of a client's hello: OpenSSL takes 56 KiB to wait for the
// rest, and the socket does it for nothing.
bool Transport::isWorthBeginning(int fd) {
  // Longer than any hello in use. Of one that is longer this much is enough.
  static thread_local char bytes[4096];
  const ssize_t got = ::recv(fd, bytes, sizeof(bytes), MSG_PEEK);
  // OpenSSL knows what ends and errors mean.
  if (got <= 0) return got == 0 || (errno != EAGAIN && errno != EINTR);
  const auto size = static_cast<size_t>(got);
  const HelloCheck check = checkHello({bytes, size}, rulesOf(*context_));
  switch (check.outcome) {
    case HelloCheck::Outcome::Wait:
      if (!wire_.has_ended && size < sizeof(bytes)) return false;
      [[fallthrough]];
    case HelloCheck::Outcome::Begin:
      if (check.skipped > 0) (void)!::recv(fd, bytes, check.skipped, MSG_DONTWAIT);
      return true;
    case HelloCheck::Outcome::Refuse:
    case HelloCheck::Outcome::Goodbye:
      refuse(fd, check);
      return false;
  }
  return true;
}

// OpenSSL is not asked: its alerts are of other versions, and its words are others.
void Transport::refuse(int fd, const HelloCheck& check) {
  has_failed_ = true;
  Timer::disarm();
  dropWaiting(fd);
  if (check.outcome == HelloCheck::Outcome::Goodbye) return;
  const std::string_view text = keepText(textOf(check.errors));
  info_->setFailure(text);
  info_->setVersion(check.version);
  stats_.add(stats::Ssl::Counter::ConnectionError);
  log::debug(log::Component::Connection, "TLS failure: ", text);
  if (check.alert == 0) return;
  // Before a version is agreed on, records are of the oldest one.
  const auto minor = static_cast<unsigned char>(
      check.version == 0 ? TLS1_VERSION : std::min<int>(check.version, TLS1_2_VERSION));
  const unsigned char alert[] = {21, 3, minor, 0, 2, 2, check.alert};
  (void)!::send(fd, alert, sizeof(alert), MSG_NOSIGNAL);
}

}  // namespace fairlead::tls
