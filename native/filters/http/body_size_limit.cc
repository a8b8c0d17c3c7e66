#include "filters/http/body_size_limit.h"

#include "base/text.h"

namespace fairlead::filters {

namespace {

// Of one request.
class BodySizeLimit final : public HttpFilter {
 public:
  explicit BodySizeLimit(uint64_t max_bytes) : max_bytes_(max_bytes) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&, bool) override {
    const http::HeaderEntry* const length = head.headers.find(http::HeaderId::ContentLength);
    uint64_t bytes = 0;
    if (!length || !parseDecimal(length->value(), &bytes) || bytes <= max_bytes_) {
      return FilterStatus::Continue;
    }
    says_so_ = true;
    return FilterStatus::Answer;
  }
  FilterStatus onRequestData(std::string_view data, bool) override {
    bytes_ += data.size();
    return bytes_ > max_bytes_ ? FilterStatus::Answer : FilterStatus::Continue;
  }
  LocalReply answer() const override {
    return {413, says_so_ ? "content length too large" : "request too long",
            "request_payload_too_large"};
  }

 private:
  const uint64_t max_bytes_;
  uint64_t bytes_ = 0;
  // Its length is too large.
  bool says_so_ = false;
};

}  // namespace

HttpFilter* BodySizeLimitConfig::make(FilterMemory& memory, const FilterScope&,
                                      FilterPlace&) const {
  if (!plan_.max_request_bytes) return nullptr;
  return memory.make<BodySizeLimit>(*plan_.max_request_bytes);
}

}  // namespace fairlead::filters
