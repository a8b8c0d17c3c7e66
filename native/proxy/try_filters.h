// The filters that one try of a request passes on its way to a host, and the host's answer on its
// way to whoever tries (a router, or a copy of its request): those of the cluster, or of the router
// itself. Between an owner and an attempt of its; kept by that from use to use. The worker's
// thread.
//
// The request passes them as soon as the try begins. What has come through waits here for the host.
#pragma once

#include <memory>
#include <vector>

#include "base/slab.h"
#include "http/saved_head.h"
#include "proxy/filter_chain.h"
#include "proxy/try_owner.h"

namespace fairlead::proxy {

class TryFilters final : private ChainOwner, private upstream::AttemptOwner {
 public:
  explicit TryFilters(TryOwner& owner);
  TryFilters(const TryFilters&) = delete;
  TryFilters& operator=(const TryFilters&) = delete;
  ~TryFilters();

  // Of a try that begins next. What was left of one before ends. `settings`: the route's; null: it
  // has none.
  void begin(upstream::Attempt& attempt, const FilterSet& set,
             const route::TryFilterSettings* settings);
  // Whose they are; null: nobody's.
  const upstream::Attempt* attempt() const { return attempt_; }
  // They see no more of it: the try is over.
  void drop();
  // Nothing comes of them any more.
  void stop();
  // As new.
  void end();

  // False: it was answered.
  bool onHostChosen(const http::RequestHead& head) { return chain_.onHostChosen(head); }
  // The request, as its owner has it.
  void onHead(http::RequestHead& head, bool end) { chain_.onRequestHead(head, end); }
  void onData(std::string_view data, bool end) { chain_.onRequestData(data, end); }
  void onTrailers(http::HeaderMap& trailers) { chain_.onRequestTrailers(trailers); }
  // What was kept of it: its head, which is passed first, and all that followed so far.
  void onKept(http::RequestHead& head, bool has_body, bool is_complete, const SlabChain& body,
              const http::SavedHead& trailers);
  bool seesAnswerBody() const { return chain_.notes().sees_response_body; }

 private:
  // ChainOwner
  StreamInfo& info() override;
  http::RequestHead& released() override;
  Arena& arena() override;
  std::shared_ptr<void>& keptByConnection(uint64_t number) override;
  void forwardHead(http::RequestHead& head, bool end) override;
  void forwardData(std::string_view data, bool end) override;
  void forwardTrailers(http::HeaderMap& trailers) override;
  void flushRequest() override;
  void writeHead(uint16_t status, http::HeaderMap& headers, bool end) override;
  void writeData(std::string_view data, bool end) override;
  void writeTrailers(http::HeaderMap& trailers) override;
  void flushAnswer() override;
  void pauseReading() override;
  void resumeReading() override;
  void pauseAnswer() override;
  void resumeAnswer() override;
  void answerFor(const filters::HttpFilter& filter, std::string_view name) override;
  void replace(const filters::LocalReply& reply, std::string_view name) override;
  void answerTooLarge(Excess of, std::string_view name) override;
  bool mayRouteAgain() const override { return false; }
  void findRouteAgain(http::RequestHead&) override {}
  void renewRoute(http::RequestHead&) override {}
  // upstream::AttemptOwner
  void onAttemptReady(upstream::Attempt& attempt, upstream::PooledConnection& connection) override;
  void onAttemptInformational(upstream::Attempt& attempt, http::ResponseHead& head) override;
  void onAttemptHead(upstream::Attempt& attempt, http::ResponseHead& head, bool end) override;
  void onAttemptData(upstream::Attempt& attempt, std::string_view data, bool end) override;
  void onAttemptTrailers(upstream::Attempt& attempt, http::HeaderMap& trailers) override;
  void onAttemptReadEnd(upstream::Attempt& attempt) override;
  void onAttemptFailed(upstream::Attempt& attempt, const upstream::UpstreamError& error) override;
  void onAttemptWritable(upstream::Attempt& attempt) override;
  void onAttemptRawReadable(upstream::Attempt& attempt) override;
  void prefetch(http::ResponseSink::Ahead ahead) const override;

  void sendWaiting();
  http::ClientStream* host() { return attempt_ ? attempt_->stream() : nullptr; }

  TryOwner& owner_;
  FilterChain chain_;
  upstream::Attempt* attempt_ = nullptr;
  // The answer's head, while its handler runs; and how its host wrote names.
  http::ResponseHead* live_answer_ = nullptr;
  const http::KeptNames* answer_names_ = nullptr;
  // What the owner kept of the request before.
  http::SavedHead spare_;
  // What has come through before there was a host.
  http::SavedHead head_;
  bool head_ends_ = false;
  bool is_complete_ = false;
  SlabChain body_;
  http::SavedHead trailers_;
};

}  // namespace fairlead::proxy
