// A service that this proxy itself asks, through a cluster of its own: as configurations name it
// (GrpcService, HttpUri). Built on the control thread, immutable, and read by any worker; owned by
// the configuration that asks it.
#pragma once

#include <cstdint>
#include <memory>

#include "base/name_ids.h"
#include "base/result.h"
#include "plan/plan.gen.h"
#include "route/header_mutations.h"
#include "stats/registry.h"

namespace fairlead::calls {

struct Service {
  static Result<std::unique_ptr<const Service>> build(const plan::Service& plan, NameIds& clusters,
                                                      stats::Registry* registry = nullptr);

  plan::Service plan;
  NameIds::Ref cluster;
  route::MutationList metadata;
  // What is worth another try: bits of route::RetryOn. 0: nothing is.
  uint32_t retry_on = 0;
  // Its calls are those of the gRPC library, as far as anybody sees (google_grpc).
  bool isGoogle() const { return !plan.stat_prefix.empty(); }
  // Of that library; null: it is not, or who built it has no statistics.
  std::shared_ptr<stats::Block<stats::GoogleGrpc>> google_stats;
};

}  // namespace fairlead::calls
