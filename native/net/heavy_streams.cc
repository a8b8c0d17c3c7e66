#include "net/heavy_streams.h"

#include <algorithm>
#include <bit>

#include "log/log.h"
#include "net/downstream_connection.h"
#include "net/overload.h"

namespace fairlead::net {

void HeavyStreams::add(DownstreamConnection& connection, uint32_t stream, uint64_t bytes) {
  const uint64_t units = bytes >> shift_;
  if (units == 0) return;
  const auto place = std::min<uint32_t>(std::bit_width(units) - 1, kClasses - 1);
  classes_[place].push_back({&connection, stream});
}

uint32_t HeavyStreams::shed(uint32_t millionths) {
  const uint64_t share = uint64_t{millionths} * kClasses / Overload::kWhole;
  const auto classes = static_cast<uint32_t>(std::min<uint64_t>(share + 1, kClasses));
  uint32_t ended = 0;
  uint32_t used = 0;
  for (uint32_t i = 0; i < classes; ++i) {
    const std::vector<Entry>& entries = classes_[kClasses - 1 - i];
    used += entries.empty() ? 0 : 1;
    for (const Entry& entry : entries) {
      if (ended == kMostAtOnce) break;
      // Connections that have ended live to the end of the turn.
      ended += entry.connection->shedStream(entry.stream) ? 1 : 0;
    }
  }
  if (used > 0) {
    log::warn(log::Component::Misc, "resetting ", ended, " streams in ", used, " buckets, ",
              classes - used, " empty buckets");
  }
  return ended;
}

}  // namespace fairlead::net
