#include "proxy/stream_chain.h"

#include <utility>

#include "proxy/stream.h"

namespace fairlead::proxy {

bool StreamChain::start(const route::FilterSettings* settings) {
  const StreamInfo& info = stream_.info();
  const HttpConfig& config = info.config();
  const uint64_t on = settings ? settings->apply(config.filters_on) : config.filters_on;
  return FilterChain::start({config.filters, config.filter_names,
                             on & (info.upgrade ? info.upgrade->chain : config.chain)},
                            settings);
}

StreamInfo& StreamChain::info() { return stream_.info(); }

http::RequestHead& StreamChain::released() { return stream_.info().context().released; }

void StreamChain::show(http::RequestHead& head) { stream_.info().live_head = &head; }

// The one that was read, should it still be there, is nobody's now: it lacks what came later.
void StreamChain::hide(const http::RequestHead& head) {
  stream_.info().live_head = nullptr;
  stream_.keepHead(head);
}

Arena& StreamChain::arena() { return stream_.info().context().arena; }

std::shared_ptr<void>& StreamChain::keptByConnection(uint64_t number) {
  return stream_.keptByConnection(number);
}

void StreamChain::forwardHead(http::RequestHead& head, bool end) { stream_.forwardHead(head, end); }

void StreamChain::forwardData(std::string_view data, bool end) { stream_.forwardData(data, end); }

void StreamChain::forwardTrailers(http::HeaderMap& trailers) { stream_.forwardTrailers(trailers); }

void StreamChain::flushRequest() { stream_.onRequestReadEnd(); }

void StreamChain::writeHead(uint16_t status, http::HeaderMap& headers, bool end) {
  stream_.writeHead(status, headers, end);
}

void StreamChain::writeData(std::string_view data, bool end) { stream_.writeData(data, end); }

void StreamChain::writeTrailers(http::HeaderMap& trailers) { stream_.writeTrailers(trailers); }

void StreamChain::flushAnswer() { stream_.flushAnswer(); }

void StreamChain::pauseReading() { stream_.pauseReading(); }

void StreamChain::resumeReading() { stream_.resumeReading(); }

void StreamChain::pauseAnswer() { stream_.pauseAnswer(); }

void StreamChain::resumeAnswer() { stream_.resumeAnswer(); }

void StreamChain::answerFor(const filters::HttpFilter& filter, std::string_view name) {
  stream_.answerFor(filter, name);
}

void StreamChain::replace(const filters::LocalReply& reply, std::string_view name) {
  if (!reply.is_bare) stream_.info().noteReplyOwner(name);
  stream_.replace(reply);
}

void StreamChain::answerTooLarge(Excess of, std::string_view name) {
  stream_.info().noteReplyOwner(name);
  stream_.answerTooLarge(of);
}

void StreamChain::findRouteAgain(http::RequestHead& head) { stream_.findRouteAgain(head); }

void StreamChain::renewRoute(http::RequestHead& head) { stream_.renewRoute(head); }

void StreamChain::serveHead(const filters::AnswerHead& head, bool end) {
  stream_.serveHead(head, end);
}

filters::OtherRequest::Outcome StreamChain::requestInstead(const filters::OtherRequest& other) {
  return stream_.requestInstead(other);
}

std::shared_ptr<const void> StreamChain::memo() const { return stream_.memo(); }

bool StreamChain::isAnswerBehind() const { return stream_.hasClient() && stream_.isClientBehind(); }

void StreamChain::limitKept(std::optional<uint32_t> bytes) {
  stream_.info().touchUncommon().request_limit = bytes;
}

}  // namespace fairlead::proxy
