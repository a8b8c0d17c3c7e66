#include "filters/http/cdn_loop.h"

#include "base/text.h"
#include "http/byte_scan.h"

namespace fairlead::filters {

namespace {

// Reads a header from its front.
class CdnReader {
 public:
  explicit CdnReader(std::string_view text) : rest_(text) {}

  bool isAtEnd() const { return rest_.empty(); }
  bool skip(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skipBlanks() {
    while (!rest_.empty() && isBlank(rest_.front())) rest_.remove_prefix(1);
  }
  // A host with or without a port, or a word; empty: neither.
  std::string_view id() {
    const std::string_view from = rest_;
    if (!(rest_.starts_with('[') ? address() : token())) return {};
    if (skip(':')) {
      while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') rest_.remove_prefix(1);
    }
    return from.substr(0, from.size() - rest_.size());
  }
  bool parameter() { return token() && skip('=') && (rest_.starts_with('"') ? quoted() : token()); }

 private:
  bool token() {
    size_t size = 0;
    while (size < rest_.size() && http::isTokenByte(rest_[size])) ++size;
    rest_.remove_prefix(size);
    return size > 0;
  }
  // Whatever may be one of IPv6.
  bool address() {
    const size_t size = rest_.find_first_not_of("0123456789abcdefABCDEF:.", 1);
    if (size == std::string_view::npos || rest_[size] != ']') return false;
    rest_.remove_prefix(size + 1);
    return true;
  }
  bool quoted() {
    for (size_t at = 1; at < rest_.size(); ++at) {
      const auto c = static_cast<unsigned char>(rest_[at]);
      if (c == '"') {
        rest_.remove_prefix(at + 1);
        return true;
      }
      if (c == '\\' && ++at == rest_.size()) return false;
      if (!http::isValueByte(rest_[at])) return false;
    }
    return false;
  }

  std::string_view rest_;
};

// Of one request.
class CdnLoop final : public HttpFilter {
 public:
  CdnLoop(const plan::CdnLoop& plan, FilterMemory& memory) : plan_(plan), memory_(memory) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&, bool) override {
    http::HeaderEntry* const before = head.headers.find(http::HeaderId::CdnLoop);
    if (!before) {
      head.headers.add(http::HeaderId::CdnLoop, "cdn-loop", plan_.id);
      return FilterStatus::Continue;
    }
    const std::optional<uint32_t> count = countCdn(before->value(), plan_.id);
    is_header_wrong_ = !count;
    if (!count || *count > plan_.most_occurrences) return FilterStatus::Answer;
    const bool is_empty = before->value().empty();
    head.headers.set(http::HeaderId::CdnLoop,
                     is_empty ? plan_.id : memory_.arena().join(before->value(), ",", plan_.id));
    return FilterStatus::Continue;
  }

  LocalReply answer() const override {
    if (is_header_wrong_) {
      return {400, "Invalid CDN-Loop header in request.", "invalid_cdn_loop_header"};
    }
    return {502, "The server has detected a loop between CDNs.", "cdn_loop_detected"};
  }

 private:
  const plan::CdnLoop& plan_;
  FilterMemory& memory_;
  bool is_header_wrong_ = false;
};

}  // namespace

std::optional<uint32_t> countCdn(std::string_view header, std::string_view id) {
  uint32_t count = 0;
  CdnReader reader(header);
  for (;;) {
    // Elements may be empty.
    do {
      reader.skipBlanks();
    } while (reader.skip(','));
    if (reader.isAtEnd()) return count;
    const std::string_view one = reader.id();
    if (one.empty()) return std::nullopt;
    if (one == id) ++count;
    reader.skipBlanks();
    while (reader.skip(';')) {
      reader.skipBlanks();
      if (!reader.parameter()) return std::nullopt;
      reader.skipBlanks();
    }
    if (!reader.isAtEnd() && !reader.skip(',')) return std::nullopt;
  }
}

HttpFilter* CdnLoopConfig::make(FilterMemory& memory, const FilterScope&, FilterPlace&) const {
  return memory.make<CdnLoop>(plan_, memory);
}

}  // namespace fairlead::filters
