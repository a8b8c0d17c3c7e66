#include "filters/http/buffer.h"

#include "filters/http/waited_request.h"

namespace fairlead::filters {

namespace {

using http::HeaderId;

// Of one request.
class Buffer final : public HttpFilter {
 public:
  Buffer(uint32_t max_bytes, FilterPlace& place) : max_bytes_(max_bytes), place_(place) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&,
                             bool end) override {
    if (end) return FilterStatus::Continue;
    is_http2_ = head.version == http::Version::Http2;
    has_waited_ = hasRequestWaited(place_);
    place_.limitRequestBuffer(max_bytes_);
    return FilterStatus::Pause;
  }
  FilterStatus onRequestData(std::string_view data, bool end) override {
    bytes_ += data.size();
    // As the real server: what has waited for another filter is one piece, whatever its size.
    if (has_waited_) return end ? FilterStatus::Continue : FilterStatus::Pause;
    // The same of what HTTP/2 has in its only frame.
    const bool is_only_frame = is_http2_ && bytes_ == data.size();
    return end && (is_only_frame || bytes_ <= max_bytes_) ? FilterStatus::Continue
                                                          : FilterStatus::Buffer;
  }
  void onRequestHeadReleased(http::RequestHead& head, Arena& arena) override {
    if (head.headers.find(HeaderId::ContentLength)) return;
    head.headers.add(HeaderId::ContentLength, "content-length", arena.decimal(bytes_));
  }

 private:
  const uint32_t max_bytes_;
  FilterPlace& place_;
  uint64_t bytes_ = 0;
  bool is_http2_ = false;
  // The request was here before its head came to the filter.
  bool has_waited_ = false;
};

}  // namespace

HttpFilter* BufferConfig::make(FilterMemory& memory, const FilterScope&, FilterPlace& place) const {
  const BufferSettings* settings = &settings_;
  const route::FilterConfigList own = place.routeConfigs();
  if (!own.empty() && BufferSettings::of(own.front())) settings = BufferSettings::of(own.front());
  if (settings->plan.disabled) return nullptr;
  return memory.make<Buffer>(settings->plan.max_request_bytes, place);
}

}  // namespace fairlead::filters
