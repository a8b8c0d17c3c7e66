// Streams that rest between two uses, of both sides. One worker's.
#pragma once

#include "http/http2/client_stream.h"
#include "http/http2/server_stream.h"
#include "net/resting_pool.h"

namespace fairlead::http2 {

struct StreamPools {
  static constexpr size_t kMostResting = 1024;

  net::RestingPool<ServerStream> server{kMostResting};
  net::RestingPool<ClientStream> client{kMostResting};

  void trim() {
    server.trim();
    client.trim();
  }
};

}  // namespace fairlead::http2
