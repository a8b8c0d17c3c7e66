#include "filters/listener/original_dst.h"

#include <sys/socket.h>

namespace fairlead::filters {

namespace {

// Of <linux/netfilter_ipv4.h>, which does not go together with <netinet/in.h>.
constexpr int kOriginalDst = 80;

class OriginalDst final : public net::ListenerFilter {
 public:
  Verdict look(net::EarlySocket& socket) override {
    net::AcceptedSocket& accepted = socket.socket();
    if (!accepted.local.isIp()) return Verdict::Continue;
    const int level = accepted.local.family() == AF_INET ? IPPROTO_IP : IPPROTO_IPV6;
    sockaddr_storage storage;
    socklen_t size = sizeof(storage);
    // Fails for connections that nobody redirected, and where the kernel tracks none.
    if (::getsockopt(accepted.fd.get(), level, kOriginalDst, &storage, &size) != 0) {
      return Verdict::Continue;
    }
    accepted.local = net::Address::fromKernel(reinterpret_cast<sockaddr*>(&storage), size);
    accepted.findings->is_local_restored = true;
    return Verdict::Continue;
  }
};

}  // namespace

std::unique_ptr<net::ListenerFilter> OriginalDstConfig::make(unsigned) const {
  return std::make_unique<OriginalDst>();
}

}  // namespace fairlead::filters
