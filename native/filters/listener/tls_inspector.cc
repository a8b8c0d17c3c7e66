#include "filters/listener/tls_inspector.h"

#include <utility>

#include "filters/listener/client_hello.h"
#include "filters/listener/no_hello.h"

namespace fairlead::filters {

namespace {

using TlsCounter = stats::TlsInspector::Counter;

class TlsInspector final : public net::ListenerFilter {
 public:
  TlsInspector(const plan::TlsInspector& plan, stats::Shard<stats::TlsInspector>& stats)
      : plan_(plan), stats_(stats) {}

  Verdict look(net::EarlySocket& socket) override {
    ClientHello hello;
    const std::string_view bytes = socket.peek();
    switch (readClientHello(bytes, plan_.max_client_hello_bytes, &hello)) {
      case HelloRead::Unfinished:
        return Verdict::Wait;
      case HelloRead::TooLarge:
        stats_.add(TlsCounter::ClientHelloTooLarge);
        return Verdict::Refuse;
      case HelloRead::NotTls:
        stats_.add(TlsCounter::TlsNotFound);
        if (!bytes.empty()) explain(bytes, socket.findings());
        return plan_.refuses_malformed && !bytes.empty() ? Verdict::Refuse : Verdict::Continue;
      case HelloRead::Found:
        stats_.record(stats::TlsInspector::Histogram::BytesProcessed, bytes.size());
        keep(std::move(hello), socket.findings());
        return Verdict::Continue;
    }
    return Verdict::Continue;
  }

 private:
  void explain(std::string_view bytes, net::Findings& findings) {
    NoHello told = explainNoHello(bytes);
    stats_.record(stats::TlsInspector::Histogram::BytesProcessed, told.looked_at);
    findings.transport_failure = std::move(told.reason);
  }

  void keep(ClientHello hello, net::Findings& findings) {
    stats_.add(TlsCounter::TlsFound);
    stats_.add(hello.protocols.empty() ? TlsCounter::AlpnNotFound : TlsCounter::AlpnFound);
    stats_.add(hello.server_name.empty() ? TlsCounter::SniNotFound : TlsCounter::SniFound);
    findings.transport_protocol = "tls";
    if (plan_.ja3) findings.ja3 = ja3Of(hello);
    if (plan_.ja4) findings.ja4 = ja4Of(hello);
    findings.server_name = std::move(hello.server_name);
    findings.application_protocols = std::move(hello.protocols);
  }

  const plan::TlsInspector& plan_;
  stats::Shard<stats::TlsInspector>& stats_;
};

}  // namespace

std::unique_ptr<net::ListenerFilter> TlsInspectorConfig::make(unsigned worker) const {
  return std::make_unique<TlsInspector>(plan_, *stats_->shard(worker + 1));
}

}  // namespace fairlead::filters
