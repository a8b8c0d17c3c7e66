#include "health/load_session.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "format/grpc_status.h"
#include "http/codecs.h"
#include "http/grpc_frames.h"
#include "log/log.h"
#include "upstream/connect.h"

namespace fairlead::health {

using http::HeaderId;
using LoadCounter = stats::LoadQuestions::Counter;

namespace {

constexpr std::string_view kMethod = "/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics";
constexpr uint64_t kFirstPauseMs = 1000;
constexpr uint64_t kLongestPauseMs = 30'000;
// Of one report.
constexpr size_t kMostReportBytes = 64 * 1024;

constexpr int64_t kUnknown = 2;
constexpr int64_t kUnimplemented = 12;
constexpr int64_t kInternal = 13;

std::optional<int64_t> readGrpcStatus(const http::HeaderMap& headers) {
  const http::HeaderEntry* const entry = headers.find(HeaderId::GrpcStatus);
  if (!entry) return std::nullopt;
  return format::parseGrpcStatus(entry->value());
}

bool isGrpc(const http::HeaderMap& headers) {
  const http::HeaderEntry* const type = headers.find(HeaderId::ContentType);
  return type && format::isGrpcContentType(type->value());
}

}  // namespace

class LoadSession::Link final : public net::Mortal,
                                private http::ClientCodecCallbacks,
                                private http::ResponseSink {
 public:
  Link(LoadSession& session, net::Connection& connection)
      : session_(&session), loop_(connection.loop()) {
    codec_ = http::makeClientCodec(
        http::ClientProtocol::Http2, connection, session.config_->client(),
        {session.context_.scratch, session.config_->http2Stats(), session.context_.random}, *this);
  }

  http::ClientStream* newStream() {
    return codec_->freeStreams() > 0 ? &codec_->newStream(*this) : nullptr;
  }
  // Nobody wants to hear of it any more.
  void abort() {
    session_ = nullptr;
    codec_->abort(CloseReason::Local);
  }

 private:
  void onConnected() override {
    if (session_) session_->onReady();
  }
  void onConnectFailed(Failure, int) override {
    bury();
    tellBroken("connection closed");
  }
  void onStreamEnded(http::ResponseSink&, StreamEnd) override {}
  void onRoom() override {}
  // The stream goes on: with the next report another one begins elsewhere.
  void onGoaway() override { is_going_ = true; }
  void onClosed(CloseReason, bool) override {
    bury();
    tellBroken("connection closed");
  }
  void serveWaiting() override {}
  void onBytes(size_t, size_t) override {}

  void onInformational(http::ResponseHead&) override {}
  void onResponseHead(http::ResponseHead& head, bool end) override {
    const std::optional<int64_t> own = readGrpcStatus(head.headers);
    if (end && own) {
      tellEnd(*own, "trailers-only");
    } else if (end || head.status != 200 || !isGrpc(head.headers)) {
      tellEnd(format::grpcStatusOfHttp(head.status), "non-grpc response");
    }
  }
  void onResponseData(std::string_view data, bool end) override {
    body_.append(data);
    std::string_view rest = body_;
    while (session_ && !rest.empty()) {
      std::string_view message;
      const std::string_view before = rest;
      if (!http::takeGrpcFrame(&rest, &message)) break;
      if (before.front() != 0) {
        tellEnd(kInternal, "invalid frame flags");
      } else if (!message.empty() && !session_->onReport(message)) {
        tellEnd(kInternal, "invalid OrcaLoadReport payload");
      }
    }
    if (!session_) return;
    body_.erase(0, body_.size() - rest.size());
    if (isTooLarge()) {
      tellEnd(kInternal, "gRPC frame decode error");
    } else if (end) {
      tellEnd(kUnknown, "server ended stream without trailers");
    } else if (is_going_) {
      tellBroken("graceful goaway, reconnecting");
    }
  }
  void onResponseTrailers(http::HeaderMap& trailers) override {
    const http::HeaderEntry* const text = trailers.find(HeaderId::GrpcMessage);
    tellEnd(readGrpcStatus(trailers).value_or(kUnknown), text ? text->value() : "");
  }
  void onResponseReadEnd() override {}
  void onResponseReset(http::ResetReason, std::string_view) override { tellBroken("stream reset"); }
  void onUpstreamWritable() override {}
  void onRawReadable() override {}
  http::ByteMeter& upstreamMeter() override { return meter_; }

  // As its head says, where it has one.
  bool isTooLarge() const { return http::grpcMessageBytes(body_).value_or(0) > kMostReportBytes; }

  void tellBroken(std::string_view why) {
    if (session_) session_->onBroken(why);
  }
  void tellEnd(int64_t grpc_status, std::string_view why) {
    if (session_) session_->onEnd(grpc_status, why);
  }

  void bury() {
    if (!is_buried_) loop_.bury(std::unique_ptr<net::Mortal>(this));
    is_buried_ = true;
  }

  // Null: nobody listens.
  LoadSession* session_;
  net::Loop& loop_;
  std::unique_ptr<http::ClientCodec> codec_;
  http::ByteMeter meter_;
  // What has come of a frame that is not whole.
  std::string body_;
  bool is_going_ = false;
  bool is_buried_ = false;
};

LoadSession::LoadSession(CheckContext& context, std::shared_ptr<const LoadConfig> config,
                         std::shared_ptr<upstream::Host> host)
    : context_(context),
      config_(std::move(config)),
      host_(std::move(host)),
      pause_ms_(kFirstPauseMs) {
  const uint32_t port = config_->plan().port;
  if (port != 0 && host_->address().isIp()) {
    address_ = std::make_unique<const net::Address>(
        net::Address::fromIp(host_->address().ipBytes(), static_cast<uint16_t>(port)));
  } else if (port != 0) {
    log::warn(log::Component::Upstream, "ORCA OOB port_value override (", port,
              ") ignored for host ", host_->text(), " with non-IP address");
  }
  // Not all hosts at once.
  context_.loop.timers().arm(
      this, context_.loop.now() + context_.random.below(config_->plan().period_ms));
}

LoadSession::~LoadSession() { abandon(); }

void LoadSession::abandon() {
  if (Link* link = std::exchange(link_, nullptr)) link->abort();
}

void LoadSession::onTimer() {
  if (link_) {
    onBroken("inactivity timeout");
  } else {
    begin();
  }
}

void LoadSession::begin() {
  upstream::ConnectionUse use;
  use.address = address_.get();
  use.transport = config_->transport();
  use.protocols = std::string_view("\x02h2");
  int error = 0;
  net::Connection* const connection = upstream::beginConnection(
      *host_, config_->cluster(), context_.loop, config_->thread(), &error, use);
  if (!connection) {
    config_->stats().add(LoadCounter::StreamFailures);
    retryLater();
    return;
  }
  link_ = new Link(*this, *connection);
  context_.loop.timers().arm(this, context_.loop.now() + config_->patienceMs());
}

std::string LoadSession::authority() const {
  if (!config_->plan().authority.empty()) return config_->plan().authority;
  const std::string& name = host_->settings().hostname;
  if (!name.empty()) return name;
  if (address_) return address_->text();
  return host_->address().isIp() ? host_->text() : config_->cluster().name();
}

void LoadSession::onReady() {
  http::ClientStream* const stream = link_->newStream();
  if (!stream) {
    onBroken("no stream");
    return;
  }
  http::HeaderMap& headers = context_.scratch.request.headers;
  headers.clear();
  headers.add(HeaderId::Te, "te", "trailers");
  headers.add(HeaderId::ContentType, "content-type", "application/grpc");
  const std::string authority = this->authority();
  http::RequestOut out{"POST", kMethod, authority, &headers};
  const net::SharedTransport* const own = config_->transport();
  const bool is_tls = net::isTls(own ? *own : config_->cluster().transport(host_->settings()));
  out.scheme = is_tls ? "https" : "http";
  stream->sendHead(out, false);
  stream->sendData(config_->question(), true);
  stream->flush();
}

bool LoadSession::onReport(std::string_view message) {
  const std::optional<upstream::LoadReport> report = upstream::parseLoadReport(message);
  if (!report) return false;
  stats::Shard<stats::LoadQuestions>& stats = config_->stats();
  stats.add(LoadCounter::ReportsReceived);
  pause_ms_ = kFirstPauseMs;
  context_.loop.timers().arm(this, context_.loop.now() + config_->patienceMs());
  upstream::HostLoad* const load = host_->load();
  const bool is_enough =
      load && load->take(*report, config_->cluster().settings(), upstream::hostClockMs());
  if (!is_enough) stats.add(LoadCounter::ReportErrors);
  return true;
}

void LoadSession::onEnd(int64_t grpc_status, std::string_view why) {
  if (grpc_status == kUnimplemented) {
    giveUp(grpc_status, why);
  } else {
    onBroken(why);
  }
}

void LoadSession::onBroken(std::string_view why) {
  config_->stats().add(LoadCounter::StreamFailures);
  log::debug(log::Component::Upstream, "ORCA OOB transient failure for ", host_->text(), ": ", why);
  abandon();
  retryLater();
}

void LoadSession::retryLater() {
  context_.loop.timers().arm(this, context_.loop.now() + context_.random.below(pause_ms_));
  pause_ms_ = std::min(pause_ms_ * 2, kLongestPauseMs);
}

void LoadSession::giveUp(int64_t grpc_status, std::string_view why) {
  stats::Shard<stats::LoadQuestions>& stats = config_->stats();
  stats.add(LoadCounter::StreamTerminated);
  stats.down(stats::LoadQuestions::Gauge::ActiveSessions);
  log::info(log::Component::Upstream, "ORCA OOB terminal for ", host_->text(),
            ": status=", grpc_status, " ", why);
  has_given_up_ = true;
  abandon();
  unlink();
}

}  // namespace fairlead::health
