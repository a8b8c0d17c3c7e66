#include "proxy/filter_chain.h"

#include <algorithm>
#include <ranges>

namespace fairlead::proxy {

using filters::FilterStatus;
using filters::HttpFilter;

bool FilterChain::start(const FilterConfigs& configs, uint64_t on,
                        upstream::WorkerClusters& clusters, uint64_t stream_id) {
  notes_ = {};
  answered_ = false;
  upstream::UpstreamContext& upstream = clusters.context();
  const filters::FilterScope scope{clusters, upstream.worker, upstream.loop.now(), stream_id,
                                   notes_};
  for (size_t i = 0; i < configs.size(); ++i) {
    if ((on >> i & 1) == 0) continue;
    if (HttpFilter* filter = configs[i]->make(memory_, scope)) filters_.push_back(filter);
  }
  stopped_at_ = filters_.size();
  return !filters_.empty();
}

template <typename Call>
FilterStatus FilterChain::pass(Call call) {
  if (answered_) return FilterStatus::Stop;
  const size_t count = std::min(stopped_at_ + 1, filters_.size());
  for (size_t i = 0; i < count; ++i) {
    const FilterStatus status = call(*filters_[i]);
    if (status == FilterStatus::Continue) continue;
    stopped_at_ = i;
    answered_ = status == FilterStatus::Answer;
    return status;
  }
  return stopped_at_ < filters_.size() ? FilterStatus::Stop : FilterStatus::Continue;
}

FilterStatus FilterChain::onRequestHead(http::RequestHead& head, const route::RequestView& view,
                                        bool end) {
  return pass([&](HttpFilter& filter) { return filter.onRequestHead(head, view, end); });
}

FilterStatus FilterChain::onRequestData(std::string_view data, bool end) {
  return pass([&](HttpFilter& filter) { return filter.onRequestData(data, end); });
}

FilterStatus FilterChain::onRequestTrailers(http::HeaderMap& trailers) {
  return pass([&](HttpFilter& filter) { return filter.onRequestTrailers(trailers); });
}

void FilterChain::onRequestForwarded(const http::RequestHead& head) {
  for (HttpFilter* filter : filters_) filter->onRequestForwarded(head);
}

void FilterChain::onResponseHead(uint16_t status, http::HeaderMap& headers, bool end,
                                 Arena& arena) {
  for (HttpFilter* filter : std::views::reverse(filters_)) {
    filter->onResponseHead(status, headers, end, arena);
  }
}

void FilterChain::onResponseSent(uint16_t status, const http::HeaderMap& headers) {
  for (HttpFilter* filter : std::views::reverse(filters_)) filter->onResponseSent(status, headers);
}

void FilterChain::onResponseData(std::string_view data, bool end) {
  for (HttpFilter* filter : std::views::reverse(filters_)) filter->onResponseData(data, end);
}

void FilterChain::onResponseTrailers(const http::HeaderMap& trailers) {
  for (HttpFilter* filter : std::views::reverse(filters_)) filter->onResponseTrailers(trailers);
}

void FilterChain::onEnd() {
  for (HttpFilter* filter : filters_) filter->onEnd();
}

void FilterChain::clear() {
  for (HttpFilter* filter : filters_) filter->~HttpFilter();
  filters_.clear();
  memory_.reset();
}

}  // namespace fairlead::proxy
