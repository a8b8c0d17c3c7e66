#include "worker/tlv_formats.h"

#include "base/wall_clock.h"

namespace fairlead::worker {

std::unique_ptr<const TlvFormats> TlvFormats::build(const plan::ProxyProtocolSocket& plan) {
  auto made = std::make_unique<TlvFormats>();
  for (const plan::AddedTlv& added : plan.added_tlvs) {
    if (added.format) made->formats_.emplace_back(*added.format);
  }
  return made->formats_.empty() ? nullptr : std::move(made);
}

std::vector<std::string> TlvFormats::values(const net::Address& local,
                                            const net::Address& remote) const {
  format::FormatContext context;
  context.start_time_us = wallClockMicros();
  context.downstream_remote = &remote;
  context.downstream_direct_remote = &remote;
  context.downstream_local = &local;
  context.upstream_remote = &remote;
  std::vector<std::string> values;
  for (const format::Format& one : formats_) one.appendLine(context, &values.emplace_back());
  return values;
}

}  // namespace fairlead::worker
