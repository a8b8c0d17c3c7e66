// The downstream half of a request: from its first byte to its access log, what its client sends
// and gets. Prepares the head and finds its route; filters and the router, its upstream half, do
// the rest. The worker's thread; taken from a pool and given back.
//
// Always holds:
// - client_ is null once the client is gone or has its answer whole.
// - With the last bytes of an answer everything is counted and logged, and the stream given back:
//   the connection's next request may begin before the call that wrote them returns. Where the
//   client does not take them, that waits; filters and router are done before.
// - Its timer is armed at the earliest deadline or before it, and stays armed between requests:
//   moving a deadline is one store.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/codec.h"
#include "proxy/router.h"
#include "proxy/stream_chain.h"
#include "proxy/stream_info.h"

namespace fairlead::proxy {

class Downstream;

class Stream final : public http::RequestSink, private net::Timer {
 public:
  Stream() : router_(*this) {}

  // Begins a request of that connection.
  void start(Downstream& downstream, http::ServerStream& client);

  // http::RequestSink
  void onRequestHead(http::RequestHead& head, bool end) override;
  void onRequestData(std::string_view data, bool end) override;
  void onRequestTrailers(http::HeaderMap& trailers) override;
  void onRequestReadEnd() override { router_.onReadEnd(); }
  void onRequestBroken(uint16_t status, std::string_view details) override;
  void onRequestShed() override;
  void onRequestHeadTimeout() override;
  void onRequestReset(http::ResetReason reason, std::string_view details) override;
  void onDownstreamWritable() override;
  void onAnswerComposed() override;
  void onAnswerComplete() override;
  void onAnswerDropped() override { end(); }
  http::ByteMeter& downstreamMeter() override { return info_.downstream_bytes; }
  size_t heldMemory(size_t waiting) const override;

  // ---- from the router ----

  StreamInfo& info() { return info_; }
  bool hasClient() const { return client_ != nullptr; }
  bool hasAnswerBegun() const { return state_ >= State::AnsweringEarly; }
  // Whether the request may not go on without TLS.
  bool requiresTls(const route::RequestView& view) const;
  // For logs, of a request that may not come to the router.
  void nameCluster(const route::RequestView& view);
  // What is said of the request from here on is said of this head.
  void keepHead(const http::RequestHead& head);
  // The head goes to a host now.
  void onForwarded(const http::RequestHead& head);
  void pauseReading();
  void resumeReading();

  void onUpstreamInformational(http::ResponseHead& head);
  // The answer. With its end the stream may be at its next request when these return.
  void onUpstreamHead(http::ResponseHead& head, bool end);
  void onUpstreamData(std::string_view data, bool end);
  void onUpstreamTrailers(http::HeaderMap& trailers);
  // As http::ResponseSink.
  void prefetch(http::ResponseSink::Ahead ahead) const;
  // All that one read brought has been told.
  void onUpstreamReadEnd() { client_->flush(); }
  // The answer breaks off.
  void onUpstreamBroken(format::ResponseFlag flag, std::string_view details);
  // How often, and from which routes to which, hosts have redirected the request so far.
  struct Redirects {
    uint32_t count = 0;
    std::vector<std::pair<std::string, std::string>> visited;
    // Of a filter that has made this request of another one.
    std::shared_ptr<const void> memo;
  };
  Redirects& redirects() {
    if (!redirects_) redirects_ = std::make_unique<Redirects>();
    return *redirects_;
  }
  // As the real server: an answer that sends the request elsewhere, and that its client does not
  // get, is what logs tell of as its answer.
  void keepAnswer(const http::HeaderMap& headers);
  // As another one: with that head, which goes to `scheme`. Outside of codecs' calls.
  void beginAgain(http::SavedHead head, std::string_view scheme, http::SavedHead trailers,
                  SlabChain body);
  // Answers in place of a host. What is upstream is abandoned.
  // `is_of_route`: its route answers, and adds to the answer what it adds to those of hosts.
  void answer(const filters::LocalReply& reply, bool is_of_route = false);

  // More waits for the client than it should, or a filter wants no more.
  bool isClientBehind() const { return client_->isOverHighWatermark() || answer_pauses_ > 0; }
  // Where a body may go past filters and codec; null: it may not.
  http::RawSink* rawSink();
  // So much of the body reached the client that way.
  void onUpstreamMoved(uint64_t written, bool is_progress);

  // ---- from its filters ----

  // What came through them, towards the router and the client.
  void findRouteAgain(http::RequestHead& head);
  // By the table that is there now.
  void renewRoute(http::RequestHead& head);
  void forwardHead(http::RequestHead& head, bool end);
  // For those who ask once it is gone.
  void forwardData(std::string_view data, bool end);
  void forwardTrailers(http::HeaderMap& trailers);
  void writeHead(uint16_t status, http::HeaderMap& headers, bool end);
  void writeData(std::string_view data, bool end);
  void writeTrailers(http::HeaderMap& trailers);
  void flushAnswer() {
    if (client_) client_->flush();
  }
  // Where a filter wants the first try to go; null: nowhere in particular.
  const filters::FilterNotes::OverrideHost* overrideHost() const {
    if (!filtered_ || chain_->notes().override_host.address.empty()) return nullptr;
    return &chain_->notes().override_host;
  }
  // What its host is to be connected to from; null: as the cluster has it.
  net::SharedSource source() const {
    if (filtered_ && chain_->notes().source) return chain_->notes().source;
    const net::Findings* const findings = downstream_->findings();
    return findings ? findings->source : nullptr;
  }
  std::shared_ptr<void>& keptByConnection(uint64_t number);
  // FilterStatus::Answer was said.
  // `owner`: the filter's name.
  void answerFor(const filters::HttpFilter& filter, std::string_view owner) {
    const filters::LocalReply reply = filter.answer();
    if (!reply.is_bare) info_.noteReplyOwner(owner);
    replace(reply);
  }
  // More of a body was to wait than may.
  void answerTooLarge(Excess of, bool is_counted = true);
  // As answer(); in place of an answer that filters hold, or the answer breaks off.
  void replace(const filters::LocalReply& reply);
  // As another one: see filters/http/other_request.h.
  filters::OtherRequest::Outcome requestInstead(const filters::OtherRequest& other);
  std::shared_ptr<const void> memo() const { return redirects_ ? redirects_->memo : nullptr; }
  // The head of an answer that a filter gives in a host's place.
  void serveHead(const filters::AnswerHead& head, bool end);
  // No more of the answer is read until as many resumes.
  void pauseAnswer() { ++answer_pauses_; }
  void resumeAnswer() {
    if (--answer_pauses_ == 0) askForMore();
  }

 private:
  enum class State : uint8_t {
    Resting,         // In its pool.
    Opened,          // No head has come, or none that can be read.
    Receiving,       // The head has come, not all of what follows.
    Waiting,         // The request is complete.
    AnsweringEarly,  // An answer has begun before the request was complete.
    Answering,       // An answer has begun.
    Leaving,         // It is composed whole, and its client is still to take some of it.
  };
  void become(State next);
  bool isRequestComplete() const {
    return state_ == State::Waiting || state_ == State::Answering || state_ == State::Leaving;
  }
  // Its filters and the router are done with it.
  bool isDone() const { return state_ == State::Resting || state_ == State::Leaving; }
  // Nothing of it is still to come from the client.
  bool isRequestHere() const { return isRequestComplete() || is_fed_again_; }

  // ---- stream.cc: the way in ----
  // It was answered.
  bool isRequestShed();
  bool checkHead(http::RequestHead& head);
  void refuseStream(std::string_view details);
  void breakHead(std::string_view details);
  void findRoute(http::RequestHead& head);
  void follow(http::RequestHead& head);
  void findRouteOf(http::RequestHead& head, const route::RequestView& view);
  void lookForRoute(http::RequestHead& head, const route::RequestView& view);
  void changeEarly(http::RequestHead& head);
  void pinTable(const route::RequestView& view);
  std::string_view keepScheme(std::string_view scheme);
  void beginDeadlines(bool end);
  void applyRouteDeadlines(http::HeaderMap& headers);
  void requestComplete();

  // ---- stream_redirect.cc: hosts' redirects that are followed here ----
  // Of the request that was sent elsewhere.
  void finishRedirected();
  void feedAgain(http::SavedHead& trailers, const SlabChain& body);

  // ---- stream_upgrade.cc: tunnels ----
  // An extended CONNECT (RFC 8441).
  void adoptProtocol(http::RequestHead& head);
  // False: it may not have one, which was answered.
  bool grantTunnel(const http::RequestHead& head, const route::RequestView& view);
  // Whether the host's answer speaks another protocol from here on.
  bool isSwitching(uint16_t status, const http::HeaderMap& headers) const;

  // ---- stream_filter.cc: past the filters ----
  // `view`: null: the request is answered before it comes to them.
  void startFilters(const route::RequestView* view);
  // False: there are none for this request.
  bool filterHead(http::RequestHead& head, const route::RequestView& view);

  // ---- stream_answer.cc: the way back ----
  // Whoever gives the answer may go on.
  void askForMore() {
    router_.onClientWritable();
    if (filtered_) chain_->onAnswerWritable();
  }
  // Whose answer it is; an answer of the proxy's own may be its connection's last.
  enum class Source : uint8_t { Host, Proxy, ProxyLast };
  void sendHead(uint16_t status, http::HeaderMap& headers, bool end, Source source);
  void rewrite(const LocalReplies& replies, http::HeaderMap& headers, LocalReplies::Reply* reply);
  void sendBody(std::string_view body);
  // By what the route says of answers. `status`: of the head.
  void mutate(http::HeaderMap& headers, uint16_t status);
  void tellAttempts(http::HeaderMap& headers);
  void finishHeaders(http::HeaderMap& headers);
  void tellProxyStatus(uint16_t* status, http::HeaderMap& headers);
  bool mustEndConnection(Source source);
  void countUnreadRest();
  void sendEnd(std::string_view data);
  void resetClient();

  // ---- stream_trace.cc: spans ----
  void beginTrace(http::RequestHead& head);
  tracing::Reason decideTrace(http::HeaderMap& headers);
  void decorate(http::HeaderMap& headers, const plan::Decorator* decorator);
  void traceAnswer(http::HeaderMap& headers);
  bool keepsResponseHead() const;
  void endTrace();

  // ---- stream_end.cc: deadlines, counting, logging ----
  void onTimer() override;
  void onRescale() override;
  void watch(net::Millis deadline);
  void touch();
  // What ends a request that took too long, counted.
  enum class Limit : uint8_t { Duration, Request, Idle };
  filters::LocalReply tooLong(Limit limit);
  void countStatus(uint16_t status);
  void letGoOfHost();
  void endFilters();
  void end();
  void countEnd();
  void recordRoutes();
  void logAccess(format::LogType type);
  void logAgainLater();

  const HttpConfig& config() const { return info_.config(); }
  Context& context() { return info_.context(); }
  net::Loop& loop() { return info_.loop(); }
  stats::Shard<stats::Http>& stats() { return info_.server->stats(); }

  Downstream* downstream_ = nullptr;
  http::ServerStream* client_ = nullptr;
  // Kept from use to use; speaks for this request while filtered_.
  std::unique_ptr<StreamChain> chain_;
  // Kept from use to use; null: nothing was ever traced.
  std::unique_ptr<tracing::RequestTrace> trace_;
  // Where the answer speaks of it.
  std::string request_id_;
  // Null: there were none.
  std::unique_ptr<Redirects> redirects_;
  // 0: none.
  net::Millis idle_timeout_ms_ = 0;
  net::Millis idle_deadline_ = net::kNever;
  net::Millis request_deadline_ = net::kNever;
  net::Millis duration_deadline_ = net::kNever;
  net::Millis log_deadline_ = net::kNever;
  // How often the client's reading was paused, and the host's by filters.
  uint32_t read_pauses_ = 0;
  uint32_t answer_pauses_ = 0;
  // Answers of the proxy's own that were begun.
  uint32_t replies_ = 0;
  State state_ = State::Resting;
  // Of the answer that has begun.
  Source source_ = Source::Host;
  bool filtered_ = false;      // A filter other than the router is on its way.
  bool head_written_ = false;  // The answer's.
  bool is_fed_again_ = false;  // What follows the head came before, and is yet to be passed on.
  Router router_;
  // Last, as its own last part is what few requests use.
  StreamInfo info_;
};

}  // namespace fairlead::proxy
