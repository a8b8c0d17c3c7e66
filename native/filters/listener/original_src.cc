#include "filters/listener/original_src.h"

#include "net/original_source.h"

namespace fairlead::filters {

namespace {

class OriginalSrc final : public net::ListenerFilter {
 public:
  explicit OriginalSrc(const plan::OriginalSrc& plan) : plan_(plan) {}

  Verdict look(net::EarlySocket& socket) override {
    net::Address client = socket.socket().remote;
    if (!client.isIp()) return Verdict::Continue;
    if (!plan_.binds_port) client = net::Address::fromIp(client.ipBytes(), 0);
    socket.findings().source = std::make_shared<const net::OriginalSource>(
        net::OriginalSource{std::move(client), plan_.mark});
    return Verdict::Continue;
  }

 private:
  const plan::OriginalSrc& plan_;
};

}  // namespace

OriginalSrcConfig::OriginalSrcConfig(const plan::OriginalSrc& plan) : plan_(plan) {
  net::wantSource();
}

std::unique_ptr<net::ListenerFilter> OriginalSrcConfig::make(unsigned) const {
  return std::make_unique<OriginalSrc>(plan_);
}

}  // namespace fairlead::filters
