// Clients that speak HTTP/2 by prior knowledge.
#pragma once

#include "test/native/http/http2/wire.h"
#include "test/native/support/proxy.h"

namespace fairlead::test {

// With all its clients.
inline void speakHttp2(plan::Update& plan) {
  plan::HttpConnectionManager& http = *plan.listeners[0].filter_chains[0].http;
  http.codec = plan::HttpConnectionManager::Codec::Http2;
  http.http2 = http2::defaultOptions();
}

inline plan::Update http2Plan(uint16_t port) {
  plan::Update plan = httpPlan({port});
  speakHttp2(plan);
  return plan;
}

}  // namespace fairlead::test
