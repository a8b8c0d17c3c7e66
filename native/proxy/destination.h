// Where a request asks to go to, of clusters whose hosts are made as they are asked for
// (ORIGINAL_DST). The worker's thread.
#pragma once

#include <optional>
#include <span>

#include "format/filter_metadata.h"
#include "http/message.h"
#include "net/address.h"
#include "net/downstream_connection.h"
#include "plan/plan.gen.h"
#include "stats/catalogue.gen.h"
#include "stats/registry.h"

namespace fairlead::proxy {

// What a request says of it, beside its connection. Nothing, where nobody asks by HTTP.
struct RequestWords {
  const http::HeaderMap* headers = nullptr;
  // The latest last.
  std::span<const format::SetMetadata> metadata = {};
  // Null: nothing is kept with it.
  const net::FilterState* state = nullptr;
};

// What is said that is no address is counted in `stats`. `client`: null: nobody came by a
// connection of this proxy, as for copies of requests. Absent: nothing says, and the client came
// here by its own will.
std::optional<net::Address> findDestination(const plan::DestinationHosts& rules,
                                            const RequestWords& request,
                                            const net::DownstreamConnection* client,
                                            stats::Shard<stats::Cluster>& stats);

}  // namespace fairlead::proxy
