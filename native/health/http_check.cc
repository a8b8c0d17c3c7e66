#include "health/http_check.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/proto_reader.h"
#include "base/wall_clock.h"
#include "health/payload.h"

namespace fairlead::health {

using http::HeaderId;

class HttpCheck::Link final : public net::Mortal,
                              private http::ClientCodecCallbacks,
                              private http::ResponseSink {
 public:
  Link(HttpCheck& check, net::Connection& connection) : check_(&check), loop_(connection.loop()) {
    const CheckConfig& config = check.config();
    const auto protocol = config.plan().is_by_alpn ? http::ClientProtocol::ByAlpn
                          : config.speaksHttp2()   ? http::ClientProtocol::Http2
                                                   : http::ClientProtocol::Http1;
    if (protocol == http::ClientProtocol::Http1) config.showHttp1();
    codec_ = http::makeClientCodec(
        protocol, connection, config.client(),
        {check.context().scratch, config.http2Stats(), check.context().random}, *this);
  }

  bool hasRoom() const { return is_connected_ && codec_->freeStreams() > 0; }
  http::ClientStream& newStream() {
    answer_ = {};
    is_answering_ = true;
    is_whole_ = false;
    stream_ = &codec_->newStream(*this);
    return *stream_;
  }
  // Nobody wants to hear of it any more: it ends once what is under way has.
  void leave() {
    check_ = nullptr;
    codec_->drain();
  }
  // The same, at once.
  void abort() {
    check_ = nullptr;
    codec_->abort(CloseReason::Local);
  }

 private:
  void onConnected() override {
    is_connected_ = true;
    if (check_) check_->onReady();
  }
  void onConnectFailed(Failure, int) override {
    bury();
    if (HttpCheck* check = std::exchange(check_, nullptr)) check->onLost(true);
  }
  // Of a whole answer the end is told only behind this, and behind onClosed().
  void onStreamEnded(http::ResponseSink&, StreamEnd end) override {
    is_whole_ = end == StreamEnd::Complete;
  }
  void onRoom() override {}
  void onGoaway() override { is_going_ = true; }
  void onClosed(CloseReason reason, bool) override {
    bury();
    if (reason == CloseReason::ProtocolError || reason == CloseReason::PeerInMessage) {
      if (check_) check_->config().countProtocolError();
    }
    is_going_ = true;
    if (is_answering_ && is_whole_) return;
    const bool was_answering = is_answering_ || !is_connected_;
    if (HttpCheck* check = std::exchange(check_, nullptr)) check->onLost(was_answering);
  }
  void serveWaiting() override {}
  void onBytes(size_t, size_t) override {}

  void onInformational(http::ResponseHead&) override {}
  void onResponseHead(http::ResponseHead& head, bool end) override {
    const http::HeaderMap& headers = head.headers;
    answer_.status = head.status;
    answer_.is_degraded = headers.find(HeaderId::XEnvoyDegraded) != nullptr;
    answer_.excludes_host = headers.find(HeaderId::XEnvoyImmediateHealthCheckFail) != nullptr;
    if (const auto* cluster = headers.find(HeaderId::XEnvoyUpstreamHealthcheckedCluster)) {
      answer_.cluster = cluster->value();
    }
    if (const auto* type = headers.find(HeaderId::ContentType)) {
      answer_.is_grpc = type->value().starts_with("application/grpc");
    }
    readGrpcStatus(headers);
    goOn(end);
  }
  void onResponseData(std::string_view data, bool end) override {
    const size_t most = check_ ? check_->mostBodyBytes() : 0;
    const size_t room = most - std::min(most, answer_.body.size());
    answer_.body.append(data.substr(0, room));
    goOn(end);
  }
  void onResponseTrailers(http::HeaderMap& trailers) override {
    readGrpcStatus(trailers);
    finish();
  }
  void onResponseReadEnd() override {}
  void onResponseReset(http::ResetReason, std::string_view) override {
    is_answering_ = false;
    stream_ = nullptr;
    if (check_) check_->onReset();
  }
  void onUpstreamWritable() override {}
  void onRawReadable() override {}
  http::ByteMeter& upstreamMeter() override { return meter_; }

  void readGrpcStatus(const http::HeaderMap& headers) {
    const auto* entry = headers.find(HeaderId::GrpcStatus);
    if (!entry) return;
    const std::string_view text = entry->value();
    int status = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), status);
    answer_.grpc_status = error == std::errc() && end == text.data() + text.size() ? status : 2;
  }

  void goOn(bool end) {
    if (end) {
      finish();
    } else if (check_ && check_->knowsEnough(answer_)) {
      stream_->reset();
      finish();
    }
  }

  void finish() {
    is_answering_ = false;
    stream_ = nullptr;
    if (check_) check_->onAnswer(answer_, is_going_);
  }

  void bury() {
    if (!is_buried_) loop_.bury(std::unique_ptr<net::Mortal>(this));
    is_buried_ = true;
  }

  // Null: nobody listens.
  HttpCheck* check_;
  net::Loop& loop_;
  std::unique_ptr<http::ClientCodec> codec_;
  http::ByteMeter meter_;
  Answer answer_;
  // Null: no answer is awaited.
  http::ClientStream* stream_ = nullptr;
  bool is_connected_ = false;
  bool is_answering_ = false;
  bool is_whole_ = false;
  // It is the last exchange on it.
  bool is_going_ = false;
  bool is_buried_ = false;
};

namespace {

// Loopback, no port.
const net::Address& nobody() {
  static const net::Address address = [] {
    plan::Address plan;
    plan.ip = std::string("\x7f\0\0\1", 4);
    return net::Address::fromPlan(plan);
  }();
  return address;
}

}  // namespace

HttpCheck::~HttpCheck() { abandon(); }

void HttpCheck::abandon() {
  if (Link* link = std::exchange(link_, nullptr)) link->abort();
}

void HttpCheck::giveUp() {
  // As the real server, which resets these alone before it ends their connection.
  const bool is_reset = plan().kind == plan::HealthCheck::Kind::Grpc && link_ != nullptr;
  if (is_reset && config().http2Stats())
    config().http2Stats()->add(stats::Http2Codec::Counter::TxReset);
  abandon();
}

void HttpCheck::begin() {
  if (link_ && (!plan().reuses_connection || !link_->hasRoom())) abandon();
  if (link_) {
    onReady();
    return;
  }
  int error = 0;
  net::Connection* const connection = connect(&error);
  if (!connection) {
    fail(health::Failure::Network);
    return;
  }
  link_ = new Link(*this, *connection);
}

void HttpCheck::onReady() {
  if (!isUnderWay()) return;
  sendRequest(link_->newStream());
}

void HttpCheck::sendRequest(http::ClientStream& stream) {
  http::HeaderMap& headers = context().scratch.request.headers;
  headers.clear();
  headers.add(HeaderId::UserAgent, "user-agent", "Envoy/HC");
  const std::string length = std::to_string(plan().send.size());
  if (!plan().send.empty()) headers.add(HeaderId::ContentLength, "content-length", length);
  sendHead(stream, plan().method, plan().path, headers, plan().send.empty());
  if (!plan().send.empty()) stream.sendData(plan().send, true);
  stream.flush();
}

void HttpCheck::sendHead(http::ClientStream& stream, std::string_view method, std::string_view path,
                         http::HeaderMap& headers, bool end) {
  const upstream::Host& host = *this->host();
  std::string_view authority = config().hostOf(host);
  const net::SharedTransport* const own = config().transport();
  const bool is_tls = net::isTls(own ? *own : config().cluster().transport(host.settings()));
  Arena arena(1024);
  if (!config().mutations().request.empty()) {
    format::FormatContext context;
    // As in the real server, of the check itself they can say little.
    context.start_time_us = wallClockMicros();
    context.upstream_host = &host.address();
    // As if this proxy were its own client.
    const net::Address& self = nobody();
    context.downstream_remote = context.downstream_direct_remote = &self;
    context.downstream_local = context.downstream_direct_local = &self;
    context.upstream_cluster = config().cluster().observabilityName();
    context.protocol = config().speaksHttp2() ? "HTTP/2" : "HTTP/1.1";
    if (!host.settings().metadata.empty()) {
      constexpr auto kHost = static_cast<size_t>(plan::FormatPiece::MetadataSource::UpstreamHost);
      context.configured_metadata[kHost] = &host.settings().metadata;
    }
    config().mutations().request.apply(headers, context, arena);
    // What is said of the host goes where the request says it.
    for (const HeaderId id : {HeaderId::Host, HeaderId::Authority}) {
      const http::HeaderEntry* const other = headers.find(id);
      if (!other) continue;
      authority = other->value();
      headers.remove(id);
    }
  }
  http::RequestOut out{method, path, authority, &headers};
  out.scheme = is_tls ? "https" : "http";
  stream.sendHead(out, end);
}

size_t HttpCheck::mostBodyBytes() const {
  if (plan().receive.empty()) return 0;
  return plan().body_bytes == 0 ? SIZE_MAX : plan().body_bytes;
}

void HttpCheck::onAnswer(const Answer& answer, bool is_last) {
  if (is_last || !plan().reuses_connection) {
    if (Link* link = std::exchange(link_, nullptr)) link->leave();
  }
  if (isUnderWay()) judge(answer);
}

void HttpCheck::onReset() {
  if (isUnderWay()) fail(health::Failure::Network);
}

void HttpCheck::onLost(bool was_answering) {
  link_ = nullptr;
  if (was_answering && isUnderWay()) fail(health::Failure::Network);
}

namespace {

bool isIn(uint16_t status, const std::vector<plan::StatusRange>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [status](const plan::StatusRange& range) {
    return status >= range.from && status < range.to;
  });
}

}  // namespace

void HttpCheck::judge(const Answer& answer) {
  setStatus(answer.status);
  // Before its status, as in the real server.
  const bool has_body = hasAll(answer.body, plan().receive);
  const bool is_expected =
      plan().expected.empty() ? answer.status == 200 : isIn(answer.status, plan().expected);
  if (!has_body || !is_expected) {
    if (answer.excludes_host) excludeHost();
    fail(health::Failure::Active, has_body && isIn(answer.status, plan().retriable));
    return;
  }
  if (const auto& name = config().serviceName()) {
    config().stats().add(stats::HealthCheck::Counter::VerifyCluster);
    if (!name->matches(answer.cluster)) {
      fail(health::Failure::Active);
      return;
    }
  }
  succeed(answer.is_degraded);
}

// ---- gRPC ----

namespace {

constexpr size_t kFrameHead = 5;

// Of the message behind the head of a frame.
uint32_t messageSize(std::string_view body) {
  uint32_t size = 0;
  for (size_t i = 1; i < kFrameHead; ++i) size = size << 8 | static_cast<uint8_t>(body[i]);
  return size;
}

// It is compressed, or there is more than one.
bool isOtherThanMessage(std::string_view body) {
  if (body.empty()) return false;
  return body[0] != 0 || (body.size() > kFrameHead && body.size() - kFrameHead > messageSize(body));
}

}  // namespace

bool saysServing(std::string_view body) {
  if (body.size() < kFrameHead || isOtherThanMessage(body)) return false;
  const uint32_t size = messageSize(body);
  body.remove_prefix(kFrameHead);
  if (size != body.size()) return false;
  uint64_t status = 0;
  ProtoReader reader(body);
  while (reader.next()) {
    constexpr uint32_t kStatus = 1 << 3;
    if (reader.tag() == kStatus) status = reader.number();
  }
  constexpr uint64_t kServing = 1;
  return reader.isWhole() && status == kServing;
}

void GrpcCheck::sendRequest(http::ClientStream& stream) {
  http::HeaderMap& headers = context().scratch.request.headers;
  headers.clear();
  headers.add(HeaderId::Te, "te", "trailers");
  headers.add(HeaderId::ContentType, "content-type", "application/grpc");
  headers.add(HeaderId::UserAgent, "user-agent", "Envoy/HC");
  // Of at most eight digits.
  constexpr uint64_t kMostMillis = 99'999'999;
  const bool is_short = plan().timeout_ms <= kMostMillis;
  const std::string timeout =
      is_short ? std::to_string(plan().timeout_ms) + "m"
               : std::to_string(std::min(kMostMillis, plan().timeout_ms / 1000)) + "S";
  headers.add(HeaderId::GrpcTimeout, "grpc-timeout", timeout);
  sendHead(stream, "POST", "/grpc.health.v1.Health/Check", headers, false);
  std::string message;
  if (!plan().service.empty()) {
    message.push_back('\x0a');
    for (size_t size = plan().service.size();; size >>= 7) {
      const bool is_last = size < 0x80;
      message.push_back(static_cast<char>(is_last ? size : (size & 0x7f) | 0x80));
      if (is_last) break;
    }
    message += plan().service;
  }
  const size_t size = message.size();
  std::string framed(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) framed.push_back(static_cast<char>(size >> shift));
  framed += message;
  stream.sendData(framed, true);
  stream.flush();
}

// As the real server, which does not wait for the end of what is no answer of gRPC.
bool GrpcCheck::knowsEnough(const Answer& answer) const {
  return answer.status != 200 || !answer.is_grpc || isOtherThanMessage(answer.body);
}

// Events tell statuses of HTTP of checks over plain HTTP alone.
void GrpcCheck::judge(const Answer& answer) {
  const bool is_well =
      answer.status == 200 && answer.is_grpc && answer.grpc_status == 0 && saysServing(answer.body);
  if (is_well) {
    succeed(answer.is_degraded);
  } else {
    fail(health::Failure::Active);
  }
}

}  // namespace fairlead::health
