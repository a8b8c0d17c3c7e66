// Streams that rest between two uses, so that a request allocates nothing. One worker's.
#pragma once

#include <memory>

#include "base/resting.h"
#include "http/http2/client_stream.h"
#include "http/http2/server_stream.h"
#include "net/loop.h"

namespace fairlead::http2 {

template <typename Stream>
class StreamPool {
 public:
  Stream* take() {
    std::optional<std::unique_ptr<Stream>> resting = resting_.take();
    return resting ? resting->release() : new Stream;
  }
  // `stream` may still be used by its callers until the turn ends, though not by its session.
  void give(Stream* stream, net::Loop& loop) {
    struct Buried final : net::Mortal {
      explicit Buried(std::unique_ptr<Stream> of) : stream(std::move(of)) {}
      std::unique_ptr<Stream> stream;
    };
    std::unique_ptr<Stream> owned(stream);
    if (!resting_.give(owned)) loop.bury(std::make_unique<Buried>(std::move(owned)));
  }
  // Ends those that nobody needed since the previous call.
  void trim() { resting_.trim(); }

 private:
  static constexpr size_t kMostResting = 1024;
  Resting<std::unique_ptr<Stream>> resting_{kMostResting};
};

// Of both sides.
struct StreamPools {
  StreamPool<ServerStream> server;
  StreamPool<ClientStream> client;

  void trim() {
    server.trim();
    client.trim();
  }
};

}  // namespace fairlead::http2
