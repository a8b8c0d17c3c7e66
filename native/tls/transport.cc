#include "tls/transport.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>

#include "log/log.h"
#include "net/connection.h"
#include "net/downstream_connection.h"
#include "net/filter_state.h"
#include "tls/counts.h"
#include "tls/failure.h"
#include "tls/session_store.h"

namespace fairlead::tls {

namespace {

using SslCounter = stats::Ssl::Counter;

constexpr size_t kRecordBytes = 16 * 1024;
constexpr uint8_t kHandshakeFailureAlert = 40;
constexpr uint8_t kBadHashAlert = 114;

// Small parts become one record here.
char* recordBuffer() {
  static thread_local char buffer[kRecordBytes];
  return buffer;
}

int transportIndex() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

Transport& transportOf(const SSL* ssl) {
  return *static_cast<Transport*>(SSL_get_ex_data(ssl, transportIndex()));
}

bool isAddress(const std::string& name) {
  return name.find_first_not_of("0123456789.") == std::string::npos ||
         name.find(':') != std::string::npos;
}

}  // namespace

Transport::Transport(Setup setup)
    : context_(std::move(setup.context)),
      info_(std::make_shared<Info>(context_)),
      stats_(*setup.stats),
      sessions_(setup.sessions),
      opening_(std::make_unique<Opening>(Opening{std::move(setup.wanted_names),
                                                 {},
                                                 setup.handshake_timeout_ms,
                                                 setup.timeouts,
                                                 setup.owner})),
      worker_(static_cast<uint16_t>(setup.worker)) {
  if (context_->isServer()) return;
  SSL* const ssl = begin();
  SSL_set_connect_state(ssl);
  // An address is no name.
  if (!setup.server_name.empty() && !isAddress(setup.server_name)) {
    SSL_set_tlsext_host_name(ssl, setup.server_name.c_str());
  }
  if (lacksVerifier()) SSL_set_verify(ssl, SSL_VERIFY_PEER, nullptr);
  if (!setup.protocols.empty()) {
    SSL_set_alpn_protos(ssl, reinterpret_cast<const unsigned char*>(setup.protocols.data()),
                        static_cast<unsigned>(setup.protocols.size()));
  }
  if (!sessions_) return;
  session_key_ = std::make_unique<const std::string>(
      SessionStore::keyOf(setup.server_name, opening_->wanted_names));
  sessions_->offer(ssl, *session_key_);
}

SSL* Transport::begin() {
  SSL* const ssl = info_->ssl();
  BIO* const bio = wire_.makeBio();
  SSL_set_bio(ssl, bio, bio);
  SSL_set_ex_data(ssl, transportIndex(), this);
  has_begun_ = true;
  return ssl;
}

Transport::~Transport() {
  Timer::disarm();
  if (!has_begun_) return;
  // Logs may have the rest for longer, which is not to be asked to read or write any more. And a
  // session is good though nobody said goodbye.
  SSL_set_shutdown(info_->ssl(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  SSL_set_bio(info_->ssl(), nullptr, nullptr);
  SSL_set_ex_data(info_->ssl(), transportIndex(), nullptr);
}

void Transport::attach(net::Connection& connection) {
  connection_ = &connection;
  if (opening_->timeout_ms == 0) return;
  net::Loop& loop = connection.loop();
  loop.timers().arm(this, loop.now() + opening_->timeout_ms);
}

void Transport::onTimer() {
  opening_->is_late = true;
  if (opening_->timeouts) {
    opening_->timeouts->add(stats::Listener::Counter::DownstreamCxTransportSocketConnectTimeout);
  }
  connection_->wake(EPOLLIN);
}

// ---- the handshake ----

Transport::Handshake Transport::handshake(int fd) {
  wire_.fd = fd;
  if (opening_->is_late) {
    has_failed_ = true;
    constexpr std::string_view kLate = "transport socket timeout was reached";
    if (opening_->owner) {
      opening_->owner->setTermination(kLate);
      opening_->owner->setClosedBy("transport_socket_timeout");
      // A socket that is closed with bytes in it resets its connection.
      if (!has_begun_) dropWaiting(fd);
    } else {
      info_->setFailure(kLate);
    }
    return Handshake::Failed;
  }
  if (!has_begun_) {
    if (!isWorthBeginning(fd)) return has_failed_ ? Handshake::Failed : Handshake::Waiting;
    SSL_set_accept_state(begin());
  }
  ERR_clear_error();
  const int result = SSL_do_handshake(info_->ssl());
  if (result == 1) {
    endHandshake();
    return Handshake::Done;
  }
  const int error = SSL_get_error(info_->ssl(), result);
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return Handshake::Waiting;
  fail(fd);
  return Handshake::Failed;
}

void Transport::endHandshake() {
  is_open_ = true;
  Timer::disarm();
  opening_.reset();
  countHandshake(info_->ssl(), stats_);
  // What was stapled is not needed any more.
  if (context_->isServer()) SSL_set_tlsext_status_ocsp_resp(info_->ssl(), nullptr, 0);
  if (SSL_session_reused(info_->ssl()) && info_->isPeerPresented()) {
    info_->setValidated(SSL_get_verify_result(info_->ssl()) == X509_V_OK);
  }
}

void Transport::fail(int fd) {
  if (std::exchange(has_failed_, true)) return;
  Timer::disarm();
  const Failure failure =
      takeFailure(opening_ ? std::string_view(opening_->details) : std::string_view(),
                  SSL_get_state(info_->ssl()) == TLS_ST_CW_CLNT_HELLO);
  const bool is_of_socket = failure.text.empty() && wire_.error != 0;
  const std::string_view text = keepText(is_of_socket ? textOfSocket(wire_.error) : failure.text);
  info_->setFailure(text);
  if (failure.lacks_certificate) stats_.add(SslCounter::FailVerifyNoCert);
  if (failure.has_errors && !failure.is_counted) stats_.add(SslCounter::ConnectionError);
  if (!text.empty()) log::debug(log::Component::Connection, "TLS failure: ", text);
  if (!failure.is_wrong_version || !context_->isServer() || is_open_) return;
  // OpenSSL leaves whoever does not speak TLS without a word.
  const unsigned char alert[] = {21, 3, 1, 0, 2, 2, SSL_AD_PROTOCOL_VERSION};
  [[maybe_unused]] const ssize_t sent = ::send(fd, alert, sizeof(alert), MSG_NOSIGNAL);
}

int Transport::onVerify(X509_STORE_CTX* store, void*) {
  auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  // How keys are agreed on has been decided by now. Of the peer's certificate the real server does
  // not want to be of the same curves.
  constexpr int kAllCurves[] = {NID_X25519, NID_X9_62_prime256v1, NID_secp384r1, NID_secp521r1};
  if (SSL_version(ssl) < TLS1_3_VERSION) {
    SSL_set1_groups(ssl, const_cast<int*>(kAllCurves), std::size(kAllCurves));
  }
  return transportOf(ssl).verify(store);
}

// What filters say of the connection; empty: nothing.
std::string_view Transport::workload() const {
  constexpr std::string_view kKey = "envoy.tls.cert_validator.spiffe.workload_trust_domain";
  const net::FilterState* const state = opening_->owner ? opening_->owner->filterState() : nullptr;
  const std::string* const domain = state ? state->find(kKey) : nullptr;
  return domain ? std::string_view(*domain) : std::string_view();
}

// A name is wanted of a peer whose certificate nobody is to verify: as the real server, which
// trusts none then.
bool Transport::lacksVerifier() const {
  const Verifier* const verifier = context_->verifier();
  return !opening_->wanted_names.empty() && !context_->plan().demands_sni_san &&
         (!verifier || verifier->mode() == SSL_VERIFY_NONE);
}

int Transport::verify(X509_STORE_CTX* store) {
  const Verifier* verifier = context_->verifier();
  X509_STORE_CTX_set_error(store, X509_V_OK);
  if (opening_ && lacksVerifier()) {
    X509_STORE_CTX_set_error(store, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY);
    return 0;
  }
  if (!verifier || !opening_) return 1;
  const WantedPeer wanted{.names = opening_->wanted_names,
                          .is_by_matcher = context_->plan().demands_sni_san,
                          .workload = workload()};
  Verdict verdict = verifier->verify(store, wanted);
  if (verdict.is_untrusted) stats_.add(SslCounter::FailVerifyError);
  info_->setValidated(verdict.kind == Verdict::Kind::Good);
  if (!verdict.isRefused()) {
    X509_STORE_CTX_set_error(store, X509_V_OK);
    return 1;
  }
  info_->keepRefused(X509_STORE_CTX_get0_cert(store));
  if (verdict.kind == Verdict::Kind::BadName) stats_.add(SslCounter::FailVerifySan);
  if (verdict.kind == Verdict::Kind::BadHash) {
    stats_.add(SslCounter::FailVerifyCertHash);
    wire_.alert = kBadHashAlert;
  }
  opening_->details = "verify cert failed: " + verdict.details;
  X509_STORE_CTX_set_error(store, Verifier::errorToTell(verdict.error));
  return 0;
}

int Transport::onNewSession(SSL* ssl, SSL_SESSION* session) {
  auto* transport = static_cast<Transport*>(SSL_get_ex_data(ssl, transportIndex()));
  if (!transport || !transport->sessions_) return 0;
  // 1: it is ours now.
  transport->sessions_->keep(SessionPtr(session), *transport->session_key_);
  return 1;
}

void Transport::onSecret(const SSL* ssl, const char* line) {
  const auto* transport = static_cast<Transport*>(SSL_get_ex_data(ssl, transportIndex()));
  if (!transport) return;
  transport->context_->keyLog()->write(transport->worker_, transport->wire_.fd, line);
}

void Transport::onOcspStaple(SSL* ssl, OcspStaple staple) {
  if (staple == OcspStaple::NotAsked) return;
  Transport& transport = transportOf(ssl);
  transport.stats_.add(SslCounter::OcspStapleRequests);
  transport.stats_.add(staple == OcspStaple::Sent      ? SslCounter::OcspStapleResponses
                       : staple == OcspStaple::Omitted ? SslCounter::OcspStapleOmitted
                                                       : SslCounter::OcspStapleFailed);
  if (staple == OcspStaple::Failed) transport.wire_.alert = kHandshakeFailureAlert;
}

// ---- reading and writing ----

uint32_t Transport::onEvents(uint32_t events) {
  if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) wire_.is_drained = false;
  if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) wire_.has_ended = true;
  if ((events & EPOLLOUT) && read_waits_for_room_) {
    read_waits_for_room_ = false;
    events |= EPOLLIN;
  }
  return events;
}

ssize_t Transport::read(int fd, char* to, size_t room) {
  SSL* ssl = info_->ssl();
  // A goodbye that came with the bytes before it: the socket itself may stay open.
  if (!has_failed_ && (SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN)) return 0;
  // Without a buffer of OpenSSL's being made for nothing.
  if (has_failed_ || (wire_.is_drained && !SSL_has_pending(ssl))) {
    errno = has_failed_ ? ECONNRESET : EAGAIN;
    return -1;
  }
  wire_.fd = fd;
  ERR_clear_error();
  size_t got = 0;
  // A record at a time is what OpenSSL gives.
  while (got < room) {
    const int size = static_cast<int>(std::min<size_t>(room - got, INT32_MAX));
    const int result = SSL_read(ssl, to + got, size);
    if (result <= 0) return got > 0 ? static_cast<ssize_t>(got) : readError(result);
    got += static_cast<size_t>(result);
    if (SSL_pending(ssl) == 0 && !SSL_has_pending(ssl) && wire_.is_drained) break;
  }
  return static_cast<ssize_t>(got);
}

ssize_t Transport::readError(int result) {
  switch (SSL_get_error(info_->ssl(), result)) {
    case SSL_ERROR_WANT_WRITE:
      read_waits_for_room_ = true;
      [[fallthrough]];
    case SSL_ERROR_WANT_READ:
      errno = EAGAIN;
      return -1;
    case SSL_ERROR_ZERO_RETURN:
      return 0;
    default:
      fail(wire_.fd);
      if (wire_.error == 0) return 0;
      errno = wire_.error;
      return -1;
  }
}

std::string_view Transport::nextRecord(const iovec* parts, int count) const {
  const auto* first = static_cast<const char*>(parts[0].iov_base);
  if (count == 1 || parts[0].iov_len >= kRecordBytes) {
    return {first, std::min(parts[0].iov_len, kRecordBytes)};
  }
  char* record = recordBuffer();
  size_t size = 0;
  for (int i = 0; i < count && size < kRecordBytes; ++i) {
    const size_t more = std::min(parts[i].iov_len, kRecordBytes - size);
    std::memcpy(record + size, parts[i].iov_base, more);
    size += more;
  }
  return {record, size};
}

ssize_t Transport::write(int fd, const iovec* parts, int count) {
  if (has_failed_ || has_said_goodbye_) {
    errno = EPIPE;
    return -1;
  }
  wire_.fd = fd;
  SSL* ssl = info_->ssl();
  iovec left[64];
  const int used = std::min(count, static_cast<int>(std::size(left)));
  std::copy_n(parts, used, left);
  iovec* next = left;
  iovec* const end = left + used;
  size_t left_bytes = 0;
  for (const iovec& part : std::span(left, static_cast<size_t>(used))) left_bytes += part.iov_len;
  ssize_t sent = 0;
  ERR_clear_error();
  while (next != end) {
    if (next->iov_len == 0) {
      ++next;
      continue;
    }
    const std::string_view record = nextRecord(next, static_cast<int>(end - next));
    // All records of one write leave with the last of them.
    wire_.gathers = record.size() < left_bytes;
    const int result = SSL_write(ssl, record.data(), static_cast<int>(record.size()));
    if (result <= 0) {
      const int error = SSL_get_error(ssl, result);
      wire_.sendGathered();
      if (sent > 0) return sent;
      if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
        errno = EAGAIN;
      } else {
        fail(fd);
        errno = wire_.error != 0 ? wire_.error : EPIPE;
      }
      return -1;
    }
    sent += result;
    left_bytes -= static_cast<size_t>(result);
    for (size_t taken = static_cast<size_t>(result); taken > 0;) {
      const size_t of_part = std::min(taken, next->iov_len);
      next->iov_base = static_cast<char*>(next->iov_base) + of_part;
      next->iov_len -= of_part;
      taken -= of_part;
      if (next->iov_len == 0) ++next;
    }
  }
  return sent;
}

void Transport::endWriting(int fd) {
  if (!is_open_ || has_failed_ || std::exchange(has_said_goodbye_, true)) return;
  wire_.fd = fd;
  ERR_clear_error();
  SSL_shutdown(info_->ssl());
  ERR_clear_error();
}

void Transport::onClose(int fd) { endWriting(fd); }

// ---- without secrets ----

namespace {

// Nothing is known but what is missing.
class NotReadyInfo final : public net::TlsInfo {
 public:
  bool append(net::TlsValue, std::string*) const override { return false; }
  std::optional<int64_t> peerValidFrom() const override { return std::nullopt; }
  std::optional<int64_t> peerValidTo() const override { return std::nullopt; }
  bool isPeerPresented() const override { return false; }
  bool isPeerValidated() const override { return false; }
  std::string_view protocol() const override { return {}; }
  std::string_view failure() const override { return "TLS error: Secret is not supplied by SDS"; }
};

}  // namespace

net::SharedTlsInfo NotReadyTransport::tls() const {
  static const net::SharedTlsInfo& info =
      *new net::SharedTlsInfo(std::make_shared<const NotReadyInfo>());
  return info;
}

ssize_t NotReadyTransport::read(int, char*, size_t) {
  errno = ECONNRESET;
  return -1;
}

ssize_t NotReadyTransport::write(int, const iovec*, int) {
  errno = EPIPE;
  return -1;
}

}  // namespace fairlead::tls
