#include "proxy/stream.h"

namespace fairlead::proxy {

using filters::FilterStatus;

void Stream::startFilters() {
  uint64_t on = config().filters_on;
  if (const route::Route* route = info_.route) on = (on & ~route->filters_off) | route->filters_on;
  if (!chain_) chain_ = std::make_unique<FilterChain>();
  filtered_ = chain_->start(config().filters, on, context().clusters, info_.id);
}

bool Stream::filterHead(http::RequestHead& head, const route::RequestView& view) {
  startFilters();
  if (!filtered_) return true;
  const FilterStatus status = chain_->onRequestHead(head, view, isRequestComplete());
  info_.is_health_check = chain_->notes().is_health_check;
  // The log names the cluster that the request would have come to.
  if (status != FilterStatus::Continue && info_.route && info_.route->cluster &&
      !config().access_logs.empty()) {
    const route::Target& target = info_.route->cluster->pick(view);
    if (target.slot >= 0) info_.cluster = info_.server->cluster(target.slot);
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
  if (status == FilterStatus::Answer) answer(chain_->answer());
  return status == FilterStatus::Continue;
}

}  // namespace fairlead::proxy
