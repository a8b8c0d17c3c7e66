// Where a request asks to go to, of clusters whose hosts are made as they are asked for
// (ORIGINAL_DST). The worker's thread.
#pragma once

#include <optional>

#include "http/message.h"
#include "net/address.h"
#include "net/downstream_connection.h"
#include "plan/plan.gen.h"
#include "stats/catalogue.gen.h"
#include "stats/registry.h"

namespace fairlead::proxy {

// `headers`: null where nobody asks by HTTP. What a header says that is no address is counted in
// `stats`. Absent: it does not say, and the client came here by its own will.
std::optional<net::Address> findDestination(const plan::DestinationHosts& rules,
                                            const http::HeaderMap* headers,
                                            const net::DownstreamConnection& client,
                                            stats::Shard<stats::Cluster>& stats);

}  // namespace fairlead::proxy
