// One request to a host, and its answer. Owned by its session; rests with its worker between two
// uses.
#pragma once

#include <memory>
#include <string_view>

#include "base/list.h"
#include "http/codec.h"
#include "http/http2/stream.h"

namespace fairlead::http2 {

class ClientSession;

class ClientStream final : public StreamBase,
                           public http::ClientStream,
                           public ListNode<ClientStream> {
 public:
  void begin(ClientSession& session, http::ResponseSink& sink);
  bool answersHead() const { return method_ == Method::Head; }
  // Null: nobody listens any more.
  http::ResponseSink* sink() const { return sink_; }
  void leaveSink() {
    sink_ = nullptr;
    meter_ = nullptr;
  }
  bool outlastsAnswer() const { return outlasts_answer_; }
  // It ends without having been sent anything.
  void loseUnopened(http::ResetReason reason, std::string_view details) {
    onReset(reason, details);
  }
  // As new.
  void clear();

  // http::ClientStream
  void sendHead(const http::RequestOut& head, bool end) override;
  void sendData(std::string_view data, bool end) override;
  void sendTrailers(http::HeaderMap* trailers) override;
  void flush() override;
  void reset() override;
  bool isOverHighWatermark() const override;
  void pauseReading() override;
  void resumeReading() override;
  http::RawSource* rawSource() override { return nullptr; }
  size_t waitingMemory() const override { return pendingMemory(); }

 private:
  enum class Method : uint8_t { Other, Head, Connect };

  // StreamBase
  void onData(std::string_view data, bool end) override;
  void onReset(http::ResetReason reason, std::string_view details) override;
  void onWritable() override;
  void onReadEnd() override;
  http::ByteMeter* meter() override { return meter_; }

  ClientSession* client_ = nullptr;
  http::ResponseSink* sink_ = nullptr;
  // The sink's; null when there is none.
  http::ByteMeter* meter_ = nullptr;
  Method method_ = Method::Other;
  bool outlasts_answer_ = false;
};

}  // namespace fairlead::http2
