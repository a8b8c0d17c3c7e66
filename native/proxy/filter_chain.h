// The filters that one request passes on its way to the router, and its answer on the way back.
// Owned by a stream, and used again for its later requests. The worker's thread.
#pragma once

#include <memory>
#include <vector>

#include "filters/http/http_filter.h"

namespace fairlead::proxy {

using FilterConfigs = std::vector<std::shared_ptr<const filters::HttpFilterConfig>>;

class FilterChain {
 public:
  FilterChain() = default;
  FilterChain(const FilterChain&) = delete;
  FilterChain& operator=(const FilterChain&) = delete;
  ~FilterChain() { clear(); }

  // `on`: a bit for each of the configs. False: there is nothing to pass.
  bool start(const FilterConfigs& configs, uint64_t on, upstream::WorkerClusters& clusters,
             uint64_t stream_id);
  const filters::FilterNotes& notes() const { return notes_; }

  // In order, up to the filter that does not let the request go on. After that the rest of the
  // request comes as far as that filter only.
  filters::FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView& view,
                                      bool end);
  filters::FilterStatus onRequestData(std::string_view data, bool end);
  filters::FilterStatus onRequestTrailers(http::HeaderMap& trailers);
  // Of the filter that said FilterStatus::Answer.
  filters::LocalReply answer() const { return filters_[stopped_at_]->answer(); }
  void onRequestForwarded(const http::RequestHead& head);

  void onResponseHead(uint16_t status, http::HeaderMap& headers, bool end, Arena& arena);
  void onResponseSent(uint16_t status, const http::HeaderMap& headers);
  void onResponseData(std::string_view data, bool end);
  void onResponseTrailers(const http::HeaderMap& trailers);
  void onEnd();
  void clear();

 private:
  template <typename Call>
  filters::FilterStatus pass(Call call);

  filters::FilterMemory memory_;
  std::vector<filters::HttpFilter*> filters_;
  filters::FilterNotes notes_;
  // filters_.size(): none of them keeps the request.
  size_t stopped_at_ = 0;
  bool answered_ = false;
};

}  // namespace fairlead::proxy
