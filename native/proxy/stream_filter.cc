// A stream and its filters.
#include "proxy/downstream.h"
#include "proxy/stream.h"

namespace fairlead::proxy {

using Counter = stats::Http::Counter;

void Stream::startFilters(const route::RequestView* view) {
  const route::FilterSettings* settings = nullptr;
  if (const route::Route* route = info_.route) {
    settings = &route->filters;
    if (view && route->cluster && route->cluster->targets_have_filters) {
      const route::Target& target = route->cluster->pick(*view);
      if (target.filters) settings = target.filters.get();
    }
  }
  if (!chain_) chain_ = std::make_unique<StreamChain>(*this);
  filtered_ = chain_->start(settings);
}

// The log names the cluster that the request would have come to.
void Stream::nameCluster(const route::RequestView& view) {
  if (!info_.route || !info_.route->cluster) return info_.use(nullptr);
  // Only logs and answers of the proxy itself tell of it before the router knows.
  const route::MutationChain* const mutations = info_.mutations();
  const bool is_told = !config().access_logs.empty() || config().local_replies ||
                       (mutations && mutations->changesResponse());
  if (!is_told) return;
  const route::Target& target = info_.route->cluster->pick(view);
  std::string_view name;
  if (target.cluster) {
    info_.use(context().clusters.find(target.cluster.id()));
  } else if (view.header(target.cluster_header, &name)) {
    info_.use(context().clusters.find(name));
  }
}

bool Stream::filterHead(http::RequestHead& head, const route::RequestView& view) {
  startFilters(&view);
  if (!filtered_) return false;
  nameCluster(view);
  chain_->onRequestHead(head, isRequestComplete());
  return true;
}

void Stream::forwardHead(http::RequestHead& head, bool end) {
  // Without a router nothing answers: the stream waits for a timeout.
  if (!config().plan.router) return;
  if (end) info_.request_forwarded_us = loop().nowMicros();
  if (info_.live_head == &head) {
    router_.onHead(head, info_.viewOf(head), end);
    return;
  }
  // One that a filter held; it may have let it go while the head is still being read.
  const uint32_t life = chain_->life();
  info_.live_head = &head;
  router_.onHead(head, info_.viewOf(head), end);
  if (life != chain_->life()) return;
  info_.live_head = nullptr;
  keepHead(head);
}

void Stream::forwardData(std::string_view data, bool end) {
  if (end) info_.request_forwarded_us = loop().nowMicros();
  router_.onData(data, end);
}

void Stream::forwardTrailers(http::HeaderMap& trailers) {
  info_.request_forwarded_us = loop().nowMicros();
  router_.onTrailers(trailers);
}

std::shared_ptr<void>& Stream::keptByConnection(uint64_t number) {
  return downstream_->kept(number);
}

void Stream::answerTooLarge(Excess of, bool is_counted) {
  if (of != Excess::Answer) {
    if (is_counted) stats().add(Counter::DownstreamRqTooLarge);
    filters::LocalReply reply{413, http::reasonPhrase(413), "request_payload_too_large"};
    reply.close = reply.is_before_end = of == Excess::Request;
    replace(reply);
    return;
  }
  if (is_counted) stats().add(Counter::RsTooLarge);
  replace({500, http::reasonPhrase(500), "response_payload_too_large"});
}

void Stream::replace(const filters::LocalReply& reply) {
  if (!hasAnswerBegun()) {
    // Its end may have come with what was too much, or wrong, but is not taken note of.
    if (reply.is_before_end && isRequestComplete() && !info_.is_http2) countUnreadRest();
    answer(reply);
    return;
  }
  if (!head_written_) {
    chain_->dropResponse();
    answer(reply);
    return;
  }
  if (reply.flag) info_.flags.set(*reply.flag);
  info_.details = reply.details;
  resetClient();
}

}  // namespace fairlead::proxy
