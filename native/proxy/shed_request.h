// A request that is not served so that its connection ends: whatever comes of it, its stream is
// reset, and the connection is told. Owns itself until then. The worker's thread.
#pragma once

#include <memory>

#include "http/codec.h"
#include "net/loop.h"
#include "proxy/downstream.h"

namespace fairlead::proxy {

class ShedRequest final : public http::RequestSink, public net::Mortal {
 public:
  // Both outlive what it does with them: it acts when it is told of the request first.
  static http::RequestSink* make(Downstream& downstream, http::ServerStream& client,
                                 net::Loop& loop) {
    return new ShedRequest(downstream, client, loop);
  }

  void onRequestHead(http::RequestHead&, bool) override { end(); }
  void onRequestData(std::string_view, bool) override { end(); }
  void onRequestTrailers(http::HeaderMap&) override { end(); }
  void onRequestReadEnd() override {}
  void onRequestBroken(uint16_t, std::string_view) override { end(); }
  void onRequestHeadTimeout() override { end(); }
  void onRequestReset(http::ResetReason, std::string_view) override { bury(); }
  void onDownstreamWritable() override {}
  void onAnswerComplete() override { bury(); }
  http::ByteMeter& downstreamMeter() override { return meter_; }

 private:
  ShedRequest(Downstream& downstream, http::ServerStream& client, net::Loop& loop)
      : downstream_(downstream), client_(&client), loop_(loop) {}

  void end() {
    http::ServerStream* const client = std::exchange(client_, nullptr);
    if (!client) return;
    // First, so that a client of HTTP/2 hears of the connection before it hears of the stream.
    downstream_.onShed();
    client->reset();
    bury();
  }
  void bury() {
    if (std::exchange(is_buried_, true)) return;
    loop_.bury(std::unique_ptr<net::Mortal>(this));
  }

  Downstream& downstream_;
  // Null: the stream is over.
  http::ServerStream* client_;
  net::Loop& loop_;
  http::ByteMeter meter_;
  bool is_buried_ = false;
};

}  // namespace fairlead::proxy
