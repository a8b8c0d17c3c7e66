// Values of the PROXY protocol towards hosts that are made anew for each connection, by
// substitution formats. As in the real server the connection to the host is what they speak of.
// Immutable; any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "format/format.h"
#include "net/proxy_protocol_transport.h"
#include "plan/plan.gen.h"

namespace fairlead::worker {

class TlvFormats final : public net::TlvFormats {
 public:
  // Null: no value has a format.
  static std::unique_ptr<const TlvFormats> build(const plan::ProxyProtocolSocket& plan);

  // net::TlvFormats
  std::vector<std::string> values(const net::Address& local,
                                  const net::Address& remote) const override;

 private:
  std::vector<format::Format> formats_;
};

}  // namespace fairlead::worker
