#include "proxy/stream.h"

namespace fairlead::proxy {

using filters::FilterStatus;

void Stream::startFilters() {
  uint64_t on = config().filters_on;
  if (route_) on = (on & ~route_->filters_off) | route_->filters_on;
  if (!chain_) chain_ = std::make_unique<FilterChain>();
  filtered_ = chain_->start(config().filters, on, context().clusters, random_);
}

bool Stream::filterHead(http::RequestHead& head, const route::RequestView& view) {
  startFilters();
  if (!filtered_) return true;
  const FilterStatus status = chain_->onRequestHead(head, view, request_complete_);
  // The log names the cluster that the request would have come to.
  if (status != FilterStatus::Continue && route_ && route_->cluster &&
      !config().access_logs.empty()) {
    const route::Target& target = route_->cluster->pick(view);
    if (target.slot >= 0) cluster_ = server_->cluster(target.slot);
  }
  return goesOn(status);
}

bool Stream::filterData(std::string_view data, bool end) {
  return goesOn(chain_->onRequestData(data, end));
}

bool Stream::filterTrailers(http::HeaderMap& trailers) {
  return goesOn(chain_->onRequestTrailers(trailers));
}

bool Stream::goesOn(FilterStatus status) {
  if (status == FilterStatus::Answer) reply(chain_->answer());
  return status == FilterStatus::Continue;
}

}  // namespace fairlead::proxy
