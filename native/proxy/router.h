// The upstream half of a request: finds where it goes, gets it to a host, and brings the host's
// answer back, or an answer in place of it. Part of a stream; the worker's thread.
//
// Always holds:
// - upstream_ is null before a host has the request and after it has answered.
// - After the last bytes of an answer are given to the stream it may be at its next request
// already:
//   nothing of this one is touched any more.
// - Its timer is armed at the earliest deadline or before it, and stays armed between requests:
//   moving a deadline is one store.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "filters/http/local_reply.h"
#include "http/codec.h"
#include "net/splice.h"
#include "proxy/stream_info.h"
#include "proxy/upstream_head.h"
#include "upstream/pool.h"

namespace fairlead::proxy {

class Stream;

class Router final : public upstream::PoolWaiter, private net::Timer, private net::Deferred {
 public:
  explicit Router(Stream& stream);

  // ---- from the stream ----

  // What the route does with a request, which may be answered before this returns.
  void onHead(http::RequestHead& head, const route::RequestView& view, bool end);
  void onData(std::string_view data, bool end);
  void onTrailers(http::HeaderMap& trailers);
  // All that one read brought has been told.
  void onReadEnd();
  void onClientWritable();
  // Nothing more is wanted of any host.
  void abandon();
  // As new.
  void clear();

 private:
  using Flag = format::ResponseFlag;
  using LocalReply = filters::LocalReply;

  // http::ResponseSink
  void onInformational(http::ResponseHead& head) override;
  void onResponseHead(http::ResponseHead& head, bool end) override;
  void onResponseData(std::string_view data, bool end) override;
  void onResponseTrailers(http::HeaderMap& trailers) override;
  void onResponseReadEnd() override;
  void onResponseReset(http::ResetReason reason, std::string_view details) override;
  void onUpstreamWritable() override;
  void onRawReadable() override { pumpSplice(); }
  http::ByteMeter& upstreamMeter() override { return info_.upstream_bytes; }
  // upstream::PoolWaiter
  void onPoolReady(http::ClientStream& stream, upstream::Host& host,
                   upstream::PooledConnection& connection) override;
  void onPoolFailure(upstream::PoolFailure failure, upstream::Host* host,
                     std::string_view details) override;
  // net::Timer
  void onTimer() override;
  // net::Deferred
  void onDeferred() override { pumpSplice(); }

  // ---- router.cc: the request's way ----
  void followRoute(http::RequestHead& head, const route::RequestView& view);
  void forward(http::RequestHead& head, const route::RequestView& view);
  bool findCluster(const route::RequestView& view);
  bool checkStrictly(const http::HeaderMap& headers);
  void sendHead(std::string_view method, std::string_view path, std::string_view authority,
                http::HeaderMap& headers);
  void sendWaiting();
  void requestComplete();
  void pauseClient();

  // ---- router_answer.cc: the way back ----
  void failUpstream(LocalReply answer, std::string_view reason);
  void charge(uint16_t status, const http::HeaderMap* headers);
  void count(uint16_t status, const http::HeaderMap* headers);
  // `host` may be null.
  void countHostError(upstream::Host* host);
  void answerComplete();
  void giveUp(const LocalReply& answer);
  void watch(net::Millis deadline);
  bool beginSplice();
  void pumpSplice();

  net::Loop& loop() { return info_.loop(); }
  const HttpConfig& config() const { return info_.config(); }
  // Whether the cluster counts the answer by its status, and its time.
  bool isCounted() const { return !info_.is_health_check && !config().router.counts_no_answers; }

  Stream& stream_;
  StreamInfo& info_;
  http::ClientStream* upstream_ = nullptr;
  upstream::HttpPool* waiting_pool_ = nullptr;
  // Held, so that the host lives.
  upstream::HttpPool* pool_ = nullptr;
  std::unique_ptr<net::Splice> splice_;
  uint64_t splice_left_ = 0;

  // What came before there was a host to send it to.
  SavedHead waiting_head_;
  std::string waiting_body_;
  SavedHead waiting_trailers_;

  Timeouts timeouts_;
  net::Millis route_deadline_ = net::kNever;
  net::Millis exchange_deadline_ = net::kNever;
  bool has_body_ = false;
  bool request_complete_ = false;
  bool client_paused_ = false;
  bool upstream_paused_ = false;
};

}  // namespace fairlead::proxy
