// Lines of the event logs of health checks: envoy.data.core.v3.HealthCheckEvent as JSON. The
// checker's thread.
#pragma once

#include <cstdint>

#include "health/check_config.h"

namespace fairlead::health {

// Why a check failed.
enum class Failure : uint8_t {
  // The answer says so.
  Active,
  // The host said so in an answer to a request.
  Passive,
  Network,
  NetworkTimeout,
};

struct Event {
  enum class Kind : uint8_t { Ejected, Added, Failed, Degraded, NoLongerDegraded, Succeeded };
  Kind kind;
  Failure failure = Failure::Active;
  bool is_first = false;
  // 0: there was no answer.
  uint16_t status = 0;
};

// Nothing where the cluster has no event log.
void logEvent(const CheckConfig& config, const upstream::Host& host, const Event& event);

}  // namespace fairlead::health
