// One request, from its first byte to its access log: prepares and routes it, forwards it to a
// host, passes the answer back, or answers itself. The worker's thread; taken from a pool and given
// back.
//
// Always holds:
// - client_ is null once the client is gone or has its answer whole; upstream_ is null before a
// host
//   has the request and after it has answered.
// - With the last bytes of an answer everything is counted and logged, and the stream given back:
//   the connection's next request may begin before the call that wrote them returns.
// - timer_ is armed at the earliest deadline or before it, and stays armed between requests: moving
// a
//   deadline is one store.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "format/context.h"
#include "http/codec.h"
#include "log/log.h"
#include "net/splice.h"
#include "proxy/filter_chain.h"
#include "proxy/http_server.h"
#include "proxy/request_headers.h"
#include "proxy/saved_head.h"
#include "route/route_table.h"
#include "upstream/pool.h"

namespace fairlead::proxy {

class Downstream;

class Stream final : public http::RequestSink,
                     public upstream::PoolWaiter,
                     private net::Timer,
                     private net::Deferred {
 public:
  Stream() = default;

  // Begins a request of that connection.
  void start(Downstream& downstream, http::ServerStream& client);

  // http::RequestSink
  void onRequestHead(http::RequestHead& head, bool end) override;
  void onRequestData(std::string_view data, bool end) override;
  void onRequestTrailers(http::HeaderMap& trailers) override;
  void onRequestReadEnd() override;
  void onRequestBroken(uint16_t status, std::string_view details) override;
  void onRequestHeadTimeout() override;
  void onRequestReset(http::ResetReason reason, std::string_view details) override;
  void onDownstreamWritable() override;
  void onAnswerComplete() override;
  http::ByteMeter& downstreamMeter() override { return downstream_bytes_; }

  // http::ResponseSink
  void onInformational(http::ResponseHead& head) override;
  void onResponseHead(http::ResponseHead& head, bool end) override;
  void onResponseData(std::string_view data, bool end) override;
  void onResponseTrailers(http::HeaderMap& trailers) override;
  void onResponseReadEnd() override;
  void onResponseReset(http::ResetReason reason, std::string_view details) override;
  void onUpstreamWritable() override;
  void onRawReadable() override { pumpSplice(); }
  http::ByteMeter& upstreamMeter() override { return upstream_bytes_; }

  // upstream::PoolWaiter
  void onPoolReady(http::ClientStream& stream, upstream::Host& host,
                   upstream::PooledConnection& connection) override;
  void onPoolFailure(upstream::PoolFailure failure, upstream::Host* host,
                     std::string_view details) override;

 private:
  using Flag = format::ResponseFlag;
  using LocalReply = filters::LocalReply;

  // What lines of the log begin with; made when a line is on.
  auto tags() const {
    return [this] { return makeTags(); };
  }
  log::Tags makeTags() const;

  // ---- stream.cc: the request's way in ----
  bool checkUnderscores(http::HeaderMap& headers);
  bool checkHead(http::RequestHead& head);
  bool normalizePath(http::RequestHead& head);
  void noteContentType(const http::HeaderMap& headers);
  void requestComplete();
  void keepHead(const http::RequestHead& head);
  void pauseClient();

  // ---- stream_filter.cc: past the filters ----
  void startFilters();
  // False: a filter keeps the request.
  bool filterHead(http::RequestHead& head, const route::RequestView& view);
  bool filterData(std::string_view data, bool end);
  bool filterTrailers(http::HeaderMap& trailers);
  bool goesOn(filters::FilterStatus status);
  bool isHealthCheck() const { return filtered_ && chain_->notes().is_health_check; }

  // ---- stream_route.cc: where it goes ----
  void routeRequest(http::RequestHead& head);
  void followRoute(http::RequestHead& head, const route::RequestView& view);
  void forward(http::RequestHead& head, const route::RequestView& view);
  bool requiresTls(const route::RequestView& view);
  void redirect(const route::RequestView& view);
  void answerDirectly(const route::RequestView& view);
  bool checkStrictly(const http::HeaderMap& headers);
  void prepareUpstreamHead(http::RequestHead& head, const route::RequestView& view);
  void rewriteHost(http::RequestHead& head, const route::RequestView& view);
  void mutateRequest(http::HeaderMap& headers);
  void chooseTimeouts(http::HeaderMap& headers);

  // ---- stream_pool.cc: a connection, or none ----
  void sendRequestHead(std::string_view method, std::string_view path, std::string_view authority,
                       http::HeaderMap& headers);
  void sendWaitingRequest();
  // Answers in place of a host that did not.
  void failUpstream(LocalReply answer, std::string_view reason);

  // ---- stream_reply.cc ----
  void reply(const LocalReply& answer);

  // ---- stream_response.cc: the way back ----
  void sendResponseHead(uint16_t status, http::HeaderMap& headers, bool end, bool local);
  void finishResponseHeaders(http::HeaderMap& headers);
  bool mustEndConnection(bool local);
  void mutateResponse(http::HeaderMap& headers);
  void sendResponseEnd(std::string_view data);
  void chargeUpstream(uint16_t status, const http::HeaderMap* headers);
  void countUpstream(uint16_t status, const http::HeaderMap* headers);
  void upstreamComplete();
  void abandonUpstream();
  void resetDownstream();
  bool beginSplice();
  void pumpSplice();
  void onDeferred() override { pumpSplice(); }

  // ---- stream_end.cc: deadlines, counting, logging ----
  void onTimer() override;
  void watch(net::Millis deadline);
  void touch();
  void finish();
  void countResponse(uint16_t status);
  void countStatus(uint16_t status);
  void logAccess();
  // Heads of the context live in the worker's scratch memory until the next call.
  void fillFormatContext(format::FormatContext* context);
  void release();

  // Of the route, or of the cluster that it chose. There is a route.
  const route::MutationChain& mutations() const { return target_ ? target_->chain : route_->chain; }
  const HttpConfig& config() const { return server_->config(); }
  Context& context() { return server_->context(); }
  net::Loop& loop() { return server_->context().loop(); }
  uint64_t now() { return loop().nowMicros(); }
  bool isIdle() const { return server_ == nullptr; }

  HttpServer* server_ = nullptr;
  Downstream* downstream_ = nullptr;
  http::ServerStream* client_ = nullptr;
  http::ClientStream* upstream_ = nullptr;
  upstream::HttpPool* waiting_pool_ = nullptr;
  // Held, so that host_ lives.
  upstream::HttpPool* pool_ = nullptr;
  upstream::WorkerCluster* cluster_ = nullptr;
  upstream::Host* host_ = nullptr;
  const route::VirtualHost* virtual_host_ = nullptr;
  const route::Route* route_ = nullptr;
  const route::Target* target_ = nullptr;
  std::unique_ptr<net::Splice> splice_;
  // Kept from use to use; speaks for this request while filtered_.
  std::unique_ptr<FilterChain> chain_;

  // The head where it was read, while that handler runs.
  http::RequestHead* live_head_ = nullptr;
  // What waits for a connection.
  SavedHead upstream_request_;
  // As routing left it: for the access log, and for headers of the answer.
  SavedHead request_;
  // For the access log.
  SavedHead response_;
  // What came of a body, and behind it, before there was a host to send it to.
  std::string waiting_body_;
  SavedHead waiting_trailers_;
  std::string details_;
  std::string cluster_name_;
  // Where the answer speaks of it.
  std::string request_id_;
  std::string_view transport_failure_;
  std::string_view upstream_protocol_;
  // "http" or "https", or what the configuration says instead.
  std::string_view scheme_ = "http";
  net::Address upstream_local_;
  net::Address client_address_;

  uint64_t start_us_ = 0;
  uint64_t request_end_us_ = 0;
  uint64_t response_begin_us_ = 0;
  uint64_t bytes_received_ = 0;
  uint64_t bytes_sent_ = 0;
  http::ByteMeter downstream_bytes_;
  http::ByteMeter upstream_bytes_;
  uint64_t splice_left_ = 0;
  uint64_t random_ = 0;
  net::Millis route_timeout_ms_ = 0;
  net::Millis idle_timeout_ms_ = 0;
  // Of the exchange with the host; 0: none.
  net::Millis upstream_duration_ms_ = 0;
  net::Millis route_deadline_ = net::kNever;
  // The cluster's for the exchange with its host.
  net::Millis upstream_deadline_ = net::kNever;
  net::Millis idle_deadline_ = net::kNever;
  net::Millis request_deadline_ = net::kNever;
  net::Millis duration_deadline_ = net::kNever;

  format::ResponseFlags flags_;
  uint16_t status_ = 0;
  bool filtered_ = false;  // A filter other than the router is on its way.
  bool http_10_ = false;
  bool head_request_ = false;
  bool connect_request_ = false;
  bool grpc_request_ = false;
  bool internal_ = false;
  bool request_has_body_ = false;
  bool request_complete_ = false;
  bool response_started_ = false;
  bool client_paused_ = false;
  bool upstream_paused_ = false;
  bool close_after_reply_ = false;
  bool finished_ = false;
};

}  // namespace fairlead::proxy
