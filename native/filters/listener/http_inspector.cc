#include "filters/listener/http_inspector.h"

#include "filters/listener/http_first_line.h"

namespace fairlead::filters {

namespace {

using InspectorCounter = stats::HttpInspector::Counter;

class HttpInspector final : public net::ListenerFilter {
 public:
  explicit HttpInspector(stats::Shard<stats::HttpInspector>& stats) : stats_(stats) {}

  Verdict look(net::EarlySocket& socket) override {
    net::Findings& findings = socket.findings();
    // What is encrypted shows nothing.
    const std::string& transport = findings.transport_protocol;
    if (!transport.empty() && transport != "raw_buffer") return Verdict::Continue;
    const std::string_view bytes = socket.peek();
    switch (readFirstLine(bytes)) {
      case FirstLine::Unfinished:
        if (bytes.size() < net::Loop::kReadBufferBytes) return Verdict::Wait;
        stats_.add(InspectorCounter::ReadError);
        return Verdict::Refuse;
      case FirstLine::NotHttp:
        stats_.add(InspectorCounter::HttpNotFound);
        return Verdict::Continue;
      case FirstLine::Http10:
        return found(InspectorCounter::Http10Found, "http/1.0", &findings);
      case FirstLine::Http11:
        return found(InspectorCounter::Http11Found, "http/1.1", &findings);
      case FirstLine::Http2:
        return found(InspectorCounter::Http2Found, "h2c", &findings);
    }
    return Verdict::Continue;
  }

 private:
  Verdict found(InspectorCounter counter, const char* protocol, net::Findings* findings) {
    stats_.add(counter);
    findings->application_protocols = {protocol};
    return Verdict::Continue;
  }

  stats::Shard<stats::HttpInspector>& stats_;
};

}  // namespace

std::unique_ptr<net::ListenerFilter> HttpInspectorConfig::make(unsigned worker) const {
  return std::make_unique<HttpInspector>(*stats_->shard(worker + 1));
}

}  // namespace fairlead::filters
