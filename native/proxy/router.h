// The upstream half of a request: finds where it goes, gets it to a host, tries again where a
// policy says so, and brings the host's answer back, or an answer in place of it. Part of a stream;
// the worker's thread.
//
// Always holds:
// - current_ is the latest try while it is under way, and the answering one once the answer has
// begun.
// - After the last bytes of an answer are given to the stream it may be at its next request
// already:
//   nothing of this one is touched any more.
// - Its timer is armed at the earliest deadline or before it, and stays armed between requests:
//   moving a deadline is one store.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/slab.h"
#include "filters/http/local_reply.h"
#include "http/codec.h"
#include "net/splice.h"
#include "proxy/filter_list.h"
#include "proxy/host_wait.h"
#include "proxy/mirror.h"
#include "proxy/retry_state.h"
#include "proxy/stream_info.h"
#include "proxy/try_logs.h"
#include "proxy/try_owner.h"
#include "proxy/upstream_head.h"

namespace fairlead::proxy {

class Stream;
class TryFilters;

class Router final : private TryOwner,
                     private HostWaitOwner,
                     private MirrorSender,
                     private net::Timer,
                     private net::Deferred {
 public:
  explicit Router(Stream& stream);
  ~Router();

  // ---- from the stream ----

  // What the route does with a request, which may be answered before this returns.
  void onHead(http::RequestHead& head, const route::RequestView& view, bool end);
  void onData(std::string_view data, bool end);
  void onTrailers(http::HeaderMap& trailers);
  // All that one read brought has been told.
  void onReadEnd();
  void onClientWritable();
  // Nothing more is wanted of any host.
  // In the next turn the stream is another request, without a body. What is upstream is abandoned.
  void goElsewhere(http::SavedHead head, bool to_https);
  void abandon();
  // Nothing more comes of the request. What is known of it and of its hosts lives on, for logs and
  // spans.
  void settle();
  // As new.
  void clear();
  // The request is over; its answer was a host's.
  void measureBodies();
  bool speaksHttp2() const;
  // Filters of tries, which may own what the answer is made of.
  bool hasTryFilters() const { return try_filters_ != nullptr; }
  // Of the request, with its hosts' codecs; and here, for tries that come.
  size_t waitingMemory() const;
  size_t keptMemory() const { return kept_body_.memory(); }

 private:
  using Attempt = upstream::Attempt;
  using Flag = format::ResponseFlag;
  using LocalReply = filters::LocalReply;
  using UpstreamError = upstream::UpstreamError;

  // upstream::AttemptOwner
  void onAttemptReady(Attempt& attempt, upstream::PooledConnection& connection) override;
  void onAttemptInformational(Attempt& attempt, http::ResponseHead& head) override;
  void onAttemptHead(Attempt& attempt, http::ResponseHead& head, bool end) override;
  void onAttemptData(Attempt& attempt, std::string_view data, bool end) override;
  void onAttemptTrailers(Attempt& attempt, http::HeaderMap& trailers) override;
  void onAttemptReadEnd(Attempt& attempt) override;
  void onAttemptFailed(Attempt& attempt, const UpstreamError& error) override;
  void onAttemptWritable(Attempt& attempt) override;
  void onAttemptRawReadable(Attempt&) override { pumpSplice(); }
  void prefetch(http::ResponseSink::Ahead ahead) const override;
  // net::Timer
  void onTimer() override;
  // net::Deferred
  void onDeferred() override;

  // An answer in place of a host's.
  // `is_of_route`: the route itself is what is said.
  void answerInPlace(const LocalReply& reply, bool is_of_route = false);
  void rewriteRedirected(http::RequestHead& head, const route::RequestView& view);

  // ---- router.cc: where it goes ----
  void followRoute(http::RequestHead& head, const route::RequestView& view);
  void forward(http::RequestHead& head, const route::RequestView& view);
  // Null: there is no host.
  void forwardTo(http::RequestHead& head, const route::RequestView& view, upstream::HttpPool* pool);
  upstream::HttpPool* choosePool(const route::RequestView& view);
  bool findCluster(const route::RequestView& view);
  bool checkStrictly(const http::HeaderMap& headers, const route::RequestView& view);
  // It was answered.
  bool isShed();
  bool mayBeBroken() const;
  bool isBroken(std::string_view method, std::string_view path, std::string_view authority,
                const http::HeaderMap& headers);
  void answerMaintenance();
  void answerDropped();
  bool isHeldBack();
  void answerNoHost(uint16_t status = 503);
  void send(http::RequestHead& head, upstream::HttpPool& pool);

  // ---- router_wish.cc: which host it wants ----
  upstream::HttpPool* chooseByWish(const route::RequestView& view,
                                   const filters::FilterNotes::OverrideHost* named);
  void wishByName(const plan::NamedHosts& hosts, std::string_view authority);
  void wishBySubset();
  void wishByOverrides(const plan::HostOverrides& rules, const http::HeaderMap& headers);
  void tellChosenHost(const upstream::Host& host);
  upstream::HostWish wish() const;
  void tellNewCookies(http::HeaderMap& headers) const;

  // ---- router_host.cc: a host that is not known yet ----
  // True: the request goes on once its host has been looked up.
  bool waitsForHost(const http::RequestHead& head);
  void onHostName(const std::string& failure) override;
  bool isWaitingForHost() const { return host_wait_ && host_wait_->isWaiting(); }
  void keepForHost(std::string_view data);
  void boundKept();
  void startMirrorsLate();

  // ---- router_request.cc: to the host ----
  // Null: no host has the request, or none any more.
  http::ClientStream* hostStream() { return current_ ? current_->stream() : nullptr; }
  // Of the first try, with nothing behind it that was kept. Null: it was kept as well.
  http::RequestHead* liveHead() const {
    return info_.attempts == 1 && !is_late_ ? info_.live_head : nullptr;
  }
  void start(Attempt& attempt, upstream::HttpPool& pool);
  // The host has the request now.
  void noteReady(Attempt& attempt, upstream::PooledConnection& connection);
  // TryOwner. False: it was answered.
  bool sendHead(http::ClientStream& to, std::string_view method, std::string_view path,
                std::string_view authority, http::HeaderMap& headers, bool end) override;
  // Its authority, as this try has it.
  std::string_view restoreKeptHead(Attempt& attempt, const upstream::Host& host,
                                   http::HeaderMap& headers);
  void sendKept(Attempt& attempt);
  void noteTry();
  void noteConnection(upstream::PooledConnection& connection);
  bool mayKeep(size_t bytes) const;
  bool keepForRetry(std::string_view data);
  void dropKept();
  // The host's time runs: it has the request, or as much as there is before a handshake.
  bool isTimed() const { return request_complete_ || info_.is_websocket; }
  void tellUnwell(Attempt& attempt);
  void grantAsHttp1(http::ResponseHead& head);
  std::string_view tunnelPreamble() const;
  void keepForTunnel(std::string_view data);
  void openTunnel(Attempt& attempt);
  // What comes behind a CONNECT may not come before its tunnel is open.
  bool isTooEarly() const;
  void requestComplete();
  void pauseClient();
  void resumeClient();

  // ---- router_filter.cc: what tries pass on their way to hosts ----
  // Null: nothing.
  const FilterList* tryFilters() const;
  void startFiltered(Attempt& attempt, upstream::HttpPool& pool, const FilterList& list);
  // Of a try that is under way; null: it passes none.
  TryFilters* filtersOf(const Attempt& attempt);
  bool isWaitedFor(const Attempt& attempt, const TryFilters& filters) const;
  // TryOwner
  StreamInfo& tryInfo() override { return info_; }
  TryLogs* tryLogs() override { return try_logs_.get(); }
  std::shared_ptr<void>& keptByConnection(uint64_t number) override;
  void onTryHead(const http::RequestHead& head, http::SavedHead& spare) override;
  void onTryReady(Attempt& attempt, upstream::PooledConnection& connection) override {
    noteReady(attempt, connection);
  }
  bool keepsForTunnel(std::string_view data) override;
  void onTryBehind() override { pauseClient(); }
  void onTrySent() override {
    if (client_paused_) resumeClient();
  }
  void flushAnswer() override;
  void pauseReading() override;
  void resumeReading() override;
  void pauseAnswer() override;
  void resumeAnswer() override;
  void replace(const LocalReply& reply, std::string_view name) override;
  void answerTooLarge(Excess of, std::string_view name) override;
  void abandonTry(Attempt& attempt);
  void dropTryFilters();
  void stopTryFilters();
  void endTryFilters();

  // ---- router_mirror.cc: copies ----
  void onMirrorWritable() override { resumeClient(); }
  void prepareMirrors(const http::RequestHead& head);
  void startMirrors();
  bool isMirrorBehind() const;
  void leaveMirrors();

  // ---- router_retry.cc: tries, and deadlines ----
  void beginRetries(const http::RequestHead& head, const RetryWishes& wishes);
  void endRetries();
  // True: there will be another try.
  bool isRetried(RetryState::Verdict verdict, bool is_after_timeout);
  bool isRetriedAfter(const UpstreamError& error, bool is_after_timeout);
  // Whether an answer may still come of another try.
  bool isTrying() const { return (current_ && current_->isActive()) || retry_at_ != net::kNever; }
  bool hasOtherTry(const Attempt& than) const;
  void retry();
  // One try, while another one may come, or be under way.
  void giveUp(Attempt& attempt);
  Attempt& restingAttempt();
  template <typename Visit>
  void forEachActive(Visit visit) {
    if (first_.isActive()) visit(first_);
    for (const auto& attempt : more_) {
      if (attempt->isActive()) visit(*attempt);
    }
  }
  void watchTry(Attempt& attempt);
  void touchTry(Attempt& attempt);
  void watch(net::Millis deadline);
  net::Millis nextDeadline();
  void onRouteTimeout();
  void onTryTimeout(Attempt& attempt, bool is_idle);
  void onExchangeTimeout(Attempt& attempt);
  void giveUp(const LocalReply& answer);

  // ---- router_trace.cc: tries as spans, where info_.trace is there ----
  void traceTry(Attempt& attempt);
  void tellTrace(Attempt& attempt, std::string_view path, http::HeaderMap& headers);
  void endTryTrace(Attempt& attempt);
  void cancelTryTrace(Attempt& attempt);
  void cancelTraces();

  // ---- router_measures.cc: what is recorded where a cluster wants it ----
  const upstream::RequestMeasures* measures() const { return info_.cluster->measures(); }
  void measureRequest(const http::RequestHead& head);
  void measureAnswer(const http::ResponseHead& head);
  // How much of the time that there was the answer, or one try of it, took.
  void measureTime();
  void measureTry(const Attempt& attempt);

  // ---- router_redirect.cc: redirects of hosts ----
  // True: the host's answer goes no further, and the request goes where it says.
  bool isRedirected(const http::ResponseHead& head);
  bool redirect(const plan::InternalRedirect& policy, const http::ResponseHead& head);
  // Of a redirect that is not followed. Null: it leads nowhere.
  void tellOtherRoute(const route::Route* target, const route::RequestView& view);
  bool mayGoTo(const plan::InternalRedirect& policy, const route::Route& target, bool to_http,
               bool from_http);
  // What is needed again if there is another try, or another place.
  bool keepsRequest() const { return retries_on_ || may_redirect_; }
  void noRedirect(Attempt& attempt);

  // ---- router_answer.cc: the way back ----
  void accept(Attempt& attempt);
  bool isRetriedAfter(Attempt& attempt, const http::ResponseHead& head);
  void refuseHandshake(const http::ResponseHead& head);
  // `was_informed`: its host had sent something before the answer.
  void fail(const UpstreamError& error, bool was_informed = false);
  void chargeFailure(const UpstreamError& error);
  // `end`: the headers are all of the answer.
  void charge(uint16_t status, const http::HeaderMap* headers, bool end = false);
  void countGrpcAnswer(const http::HeaderMap& fields);
  void count(uint16_t status, const http::HeaderMap* headers);
  // Where the request is counted apart.
  template <typename Count>
  void forEachGroup(Count count) {
    const unsigned worker = info_.context().upstream.worker;
    if (info_.group) count(*info_.group->stats->shard(worker + 1));
    if (info_.route && info_.route->group) count(*info_.route->group->shard(worker + 1));
  }
  void addToGroups(stats::VirtualCluster::Counter counter) {
    forEachGroup([counter](auto& stats) { stats.add(counter); });
  }
  // What became of a try, for whoever puts hosts out because of it. `host` may be null.
  void tellOutlier(upstream::Host* host, upstream::OutlierResult result, uint16_t status = 0) {
    upstream::OutlierMonitor* const monitor = host ? host->outlier() : nullptr;
    if (monitor) monitor->put(countersOf(*host), result, status);
  }
  void tellOutlier(upstream::Host& host, const http::ResponseHead& head);
  // What a host says of its load, with the first of head and trailers that does.
  void takeLoadReport(Attempt& attempt, const http::HeaderMap& headers);
  // `host` may be null.
  void countHostError(upstream::Host* host) {
    if (host) countersOf(*host).rq_error.add();
  }
  // Of a request that got that status for it: as the real server, where it is counted by that.
  void countHostError(upstream::Host* host, uint16_t status) {
    if (status / 100 != 5 || isCounted()) countHostError(host);
  }
  // Of an answer that breaks off: gRPC's has said nothing of how it went.
  void chargeBegunAnswer();
  void answerComplete(Attempt& attempt);
  bool beginSplice();
  void pumpSplice();

  upstream::HostCounters& countersOf(upstream::Host& host) {
    return host.counters(info_.context().upstream.worker);
  }
  net::Loop& loop() { return info_.loop(); }
  const HttpConfig& config() const { return info_.config(); }
  // Whether the cluster counts the answer by its status, and its time.
  bool isCounted() const { return !info_.is_health_check && !config().router.counts_no_answers; }
  // By its status under no prefix, too, and in retries: as the real server, which leaves out these
  // alone.
  bool isPlain() const { return !info_.is_grpc || !config().router.counts_no_grpc_failures; }
  stats::Shard<stats::Cluster>& clusterStats() { return info_.cluster->stats(); }

  Stream& stream_;
  StreamInfo& info_;
  Attempt first_;
  // Null: there is none, or the next one waits for its time.
  Attempt* current_ = nullptr;
  bool retries_on_ = false;
  bool retry_is_after_timeout_ = false;
  // The route has hosts' redirects followed here, and no answer has been taken so far; and all that
  // it takes has been kept.
  bool follows_redirects_ = false;
  bool may_redirect_ = false;
  // In the next turn the request goes where a host says.
  bool is_redirected_ = false;
  bool redirects_to_https_ = false;
  bool has_body_ = false;
  bool request_complete_ = false;
  bool tunnel_open_ = false;
  // The answer is a canary's, by what its host says or is said of it.
  bool is_canary_ = false;
  // Of gRPC: its status, by which the host's answers count, comes behind the body.
  bool awaits_grpc_status_ = false;
  // Null: the host speaks HTTP.
  const plan::ConnectConfig* terminates_ = nullptr;
  bool client_paused_ = false;
  bool upstream_paused_ = false;
  net::Millis route_deadline_ = net::kNever;
  net::Millis retry_at_ = net::kNever;
  Timeouts timeouts_;
  // Kept from use to use; speaks for this request while retries_on_.
  std::unique_ptr<RetryState> retry_;
  // Where one try goes on while another begins. Kept from use to use.
  std::vector<std::unique_ptr<Attempt>> more_;
  // Those that are fed.
  std::vector<Mirror*> mirrors_;
  // Kept from use to use; null: none was ever waited for.
  std::unique_ptr<HostWait> host_wait_;
  // The head goes to the host after what came behind it.
  bool is_late_ = false;
  std::unique_ptr<net::Splice> splice_;
  uint64_t splice_left_ = 0;
  // Kept from use to use; null: no try was ever logged.
  std::unique_ptr<TryLogs> try_logs_;
  // Kept from use to use; null: no try ever passed any.
  std::unique_ptr<std::vector<std::unique_ptr<TryFilters>>> try_filters_;

  // What came before there was a host to send it to, or may be sent again.
  http::SavedHead kept_head_;
  http::SavedHead kept_trailers_;
  SlabChain kept_body_;
  // With whom it shares connections.
  upstream::PoolUse use_;

  // Where the request goes by its hash, or wants to go to.
  struct Wanted {
    std::optional<uint64_t> hash;
    std::optional<net::Address> destination;
    // Of the host, where the cluster's have names.
    std::string name;
    // Why there is no such host; empty: as of any other.
    std::string no_host;
    // What the client is told by set-cookie: with them its next request has the same hash.
    std::vector<std::string> new_cookies;
    // What filters ask for beside the route.
    std::optional<plan::SubsetCriteria> criteria;
    // Hosts that the request names, each for one try.
    upstream::HostOverrides overrides;
    // What is told of the one that it got.
    std::optional<format::FilterMetadata> told_host;

    void clear() {
      hash.reset();
      destination.reset();
      name.clear();
      no_host.clear();
      new_cookies.clear();
      criteria.reset();
      overrides.clear();
      told_host.reset();
    }
  };
  // Kept from use to use; null until a request says where it goes.
  std::unique_ptr<Wanted> wanted_;
};

}  // namespace fairlead::proxy
