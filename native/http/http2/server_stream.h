// One request of an HTTP/2 connection: what the proxy answers through. Rests in a pool between two
// uses; the worker's thread.
#pragma once

#include "http/codec.h"
#include "http/http2/stream.h"

namespace fairlead::http2 {

class ServerSession;

class ServerStream final : public StreamBase, public http::ServerStream {
 public:
  // http::ServerStream
  void sendInformational(uint16_t status, http::HeaderMap* headers) override;
  void finishHead(http::ResponseOut&, bool) override {}
  void sendHead(const http::ResponseOut& head, bool end) override;
  void sendData(std::string_view data, bool end) override;
  void sendTrailers(http::HeaderMap* trailers) override;
  void flush() override;
  void reset() override;
  bool isOverHighWatermark() const override;
  void pauseReading() override;
  void resumeReading() override;
  bool endsConnection() const override { return false; }
  http::RawSink* rawSink() override { return nullptr; }
  void setFlushTimeout(net::Millis ms) override;
  void failTunnel() override;

 private:
  friend class ServerSession;

  // StreamBase
  void onData(std::string_view data, bool end) override;
  void onReset(http::ResetReason reason, std::string_view details) override;
  void onWritable() override;
  void onReadEnd() override;
  http::ByteMeter* meter() override { return meter_; }

  ServerSession& session() const;
  size_t writeHead(uint16_t status, const http::HeaderMap* headers, bool end);
  // The last of the answer is about to be given to the session, after which this may be at its
  // next use. Who is to be told of it then, by tellEnd().
  http::RequestSink* leave();
  void tellEnd(http::RequestSink& sink);
  // As new.
  void clear();

  // Null once it has heard the end of its request.
  http::RequestSink* sink_ = nullptr;
  // Who is to hear that the last of a whole exchange has been sent; null: nobody.
  http::RequestSink* waiting_ = nullptr;
  // The sink's.
  http::ByteMeter* meter_ = nullptr;
  bool has_lost_host_ = false;
};

}  // namespace fairlead::http2
