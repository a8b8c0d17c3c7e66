#include "proxy/try_filters.h"

#include <utility>

#include "proxy/stream_info.h"
#include "proxy/try_logs.h"

namespace fairlead::proxy {

using http::HeaderMap;
using upstream::Attempt;

TryFilters::TryFilters(TryOwner& owner) : owner_(owner), chain_(static_cast<ChainOwner&>(*this)) {}

TryFilters::~TryFilters() { end(); }

void TryFilters::begin(Attempt& attempt, const FilterSet& set,
                       const route::TryFilterSettings* settings) {
  end();
  attempt_ = &attempt;
  attempt.setOwner(*this);
  chain_.start(set, settings);
}

void TryFilters::drop() {
  chain_.dropRequest();
  chain_.dropResponse();
}

void TryFilters::stop() {
  if (!attempt_) return;
  chain_.stop();
  if (!body_.empty()) body_.clear(info().loop().slabs());
}

void TryFilters::end() {
  if (!attempt_) return;
  stop();
  chain_.end();
  std::exchange(attempt_, nullptr)->setOwner(owner_);
  spare_.clear();
  head_.clear();
  trailers_.clear();
  head_ends_ = is_complete_ = false;
  live_answer_ = nullptr;
  answer_names_ = nullptr;
}

void TryFilters::onKept(http::RequestHead& head, bool has_body, bool is_complete,
                        const SlabChain& body, const http::SavedHead& trailers) {
  const uint32_t life = chain_.life();
  onHead(head, !has_body);
  if (!has_body) return;
  // With the request its body may go.
  std::vector<std::string_view> pieces;
  body.forEachPiece([&pieces](std::string_view piece) { pieces.push_back(piece); });
  for (const std::string_view piece : pieces) {
    if (life == chain_.life()) onData(piece, false);
  }
  if (life != chain_.life()) return;
  if (trailers.isSet()) {
    HeaderMap& headers = info().context().tried.headers;
    trailers.restore(&headers);
    onTrailers(headers);
  } else if (is_complete) {
    onData({}, true);
  }
}

// ---- towards the host ----

StreamInfo& TryFilters::info() { return owner_.tryInfo(); }

http::RequestHead& TryFilters::released() { return info().context().tried; }

Arena& TryFilters::arena() { return info().context().tried_arena; }

std::shared_ptr<void>& TryFilters::keptByConnection(uint64_t number) {
  return owner_.keptByConnection(number);
}

void TryFilters::forwardHead(http::RequestHead& head, bool end) {
  owner_.onTryHead(head, spare_);
  if (chain_.notes().keeps_request_head && !info().uncommon().request.isSet()) {
    info().touchUncommon().request.save(head.method, head.path, head.authority, head.headers);
  }
  if (http::ClientStream* const to = host()) {
    owner_.sendHead(*to, head.method, head.path, head.authority, head.headers, end);
    return;
  }
  head_.save(head.method, head.path, head.authority, head.headers);
  head_ends_ = end;
}

void TryFilters::forwardData(std::string_view data, bool end) {
  if (owner_.keepsForTunnel(data)) return;
  if (http::ClientStream* const to = host()) {
    if (end) info().mark(format::TimePoint::UpstreamTxEnd);
    if (TryLogs* const logs = owner_.tryLogs()) logs->onSent(*attempt_, data.size());
    to->sendData(data, end);
    return;
  }
  body_.append(info().loop().slabs(), data);
  is_complete_ = is_complete_ || end;
  if (body_.size() > info().bufferLimit()) owner_.onTryBehind();
}

void TryFilters::forwardTrailers(HeaderMap& trailers) {
  if (http::ClientStream* const to = host()) {
    info().mark(format::TimePoint::UpstreamTxEnd);
    to->sendTrailers(&trailers);
    return;
  }
  trailers_.save({}, {}, {}, trailers);
}

void TryFilters::flushRequest() {
  if (http::ClientStream* const to = host()) to->flush();
}

// What has come through by the time that there is a host.
void TryFilters::sendWaiting() {
  if (!head_.isSet()) return;
  http::ClientStream& to = *host();
  HeaderMap& headers = info().context().headers;
  head_.restore(&headers);
  if (!owner_.sendHead(to, head_.method(), head_.path(), head_.authority(), headers, head_ends_)) {
    return;
  }
  head_.unset();
  body_.forEachPiece([&to](std::string_view piece) { to.sendData(piece, false); });
  if (TryLogs* const logs = owner_.tryLogs()) logs->onSent(*attempt_, body_.size());
  const bool has_trailers = trailers_.isSet();
  if (is_complete_ && !has_trailers) to.sendData({}, true);
  if (has_trailers) {
    trailers_.restore(&headers);
    to.sendTrailers(&headers);
    trailers_.unset();
  }
  if (head_ends_ || is_complete_ || has_trailers) {
    info().mark(format::TimePoint::UpstreamTxEnd);
  }
  // Before what is sent is cleared.
  to.flush();
  if (!body_.empty()) body_.clear(info().loop().slabs());
}

void TryFilters::onAttemptReady(Attempt& attempt, upstream::PooledConnection& connection) {
  owner_.onTryReady(attempt, connection);
  sendWaiting();
  owner_.onTrySent();
}

// ---- the host's answer ----

void TryFilters::onAttemptInformational(Attempt& attempt, http::ResponseHead& head) {
  owner_.onAttemptInformational(attempt, head);
}

void TryFilters::onAttemptHead(Attempt&, http::ResponseHead& head, bool end) {
  info().context().tried_arena.reset();
  live_answer_ = &head;
  answer_names_ = head.names;
  const uint32_t life = chain_.life();
  chain_.onResponseHead(head.status, head.headers, end);
  if (life == chain_.life()) live_answer_ = nullptr;
}

void TryFilters::onAttemptData(Attempt&, std::string_view data, bool end) {
  chain_.onResponseData(data, end);
}

void TryFilters::onAttemptTrailers(Attempt&, HeaderMap& trailers) {
  chain_.onResponseTrailers(trailers);
}

void TryFilters::onAttemptReadEnd(Attempt& attempt) { owner_.onAttemptReadEnd(attempt); }

void TryFilters::onAttemptFailed(Attempt& attempt, const upstream::UpstreamError& error) {
  drop();
  owner_.onAttemptFailed(attempt, error);
}

void TryFilters::onAttemptWritable(Attempt& attempt) { owner_.onAttemptWritable(attempt); }

void TryFilters::onAttemptRawReadable(Attempt& attempt) { owner_.onAttemptRawReadable(attempt); }

void TryFilters::prefetch(http::ResponseSink::Ahead ahead) const { owner_.prefetch(ahead); }

void TryFilters::writeHead(uint16_t status, HeaderMap& headers, bool end) {
  if (live_answer_ && &live_answer_->headers == &headers) {
    live_answer_->status = status;
    owner_.onAttemptHead(*attempt_, *live_answer_, end);
    return;
  }
  http::ResponseHead& head = info().context().tried_answer;
  head.status = status;
  head.names = answer_names_;
  head.headers.assign(headers);
  owner_.onAttemptHead(*attempt_, head, end);
}

void TryFilters::writeData(std::string_view data, bool end) {
  owner_.onAttemptData(*attempt_, data, end);
}

void TryFilters::writeTrailers(HeaderMap& trailers) {
  owner_.onAttemptTrailers(*attempt_, trailers);
}

void TryFilters::flushAnswer() { owner_.flushAnswer(); }

// ---- what filters ask of the request ----

void TryFilters::pauseReading() { owner_.pauseReading(); }

void TryFilters::resumeReading() { owner_.resumeReading(); }

void TryFilters::pauseAnswer() { owner_.pauseAnswer(); }

void TryFilters::resumeAnswer() { owner_.resumeAnswer(); }

// As in the real server, such an answer is the request's: there is no other try.
void TryFilters::answerFor(const filters::HttpFilter& filter, std::string_view name) {
  owner_.replace(filter.answer(), name);
}

void TryFilters::replace(const filters::LocalReply& reply, std::string_view name) {
  owner_.replace(reply, name);
}

void TryFilters::answerTooLarge(Excess of, std::string_view name) {
  owner_.answerTooLarge(of, name);
}

}  // namespace fairlead::proxy
