// The filters that a stream's request passes before the router. Made for the first request that has
// any, and used again; the worker's thread.
#pragma once

#include "proxy/filter_chain.h"

namespace fairlead::proxy {

class Stream;

class StreamChain final : private ChainOwner, public FilterChain {
 public:
  explicit StreamChain(Stream& stream)
      : FilterChain(static_cast<ChainOwner&>(*this)), stream_(stream) {}
  // While there is an owner still.
  ~StreamChain() { end(); }

  // `settings`: the route's; null: there is none. False: there is nothing to pass.
  bool start(const route::FilterSettings* settings);

 private:
  // ChainOwner
  StreamInfo& info() override;
  http::RequestHead& released() override;
  void show(http::RequestHead& head) override;
  void hide(const http::RequestHead& head) override;
  Arena& arena() override;
  std::shared_ptr<void>& keptByConnection(uint64_t number) override;
  void forwardHead(http::RequestHead& head, bool end) override;
  void forwardData(std::string_view data, bool end) override;
  void forwardTrailers(http::HeaderMap& trailers) override;
  void flushRequest() override;
  void writeHead(uint16_t status, http::HeaderMap& headers, bool end) override;
  void writeData(std::string_view data, bool end) override;
  void writeTrailers(http::HeaderMap& trailers) override;
  void flushAnswer() override;
  void pauseReading() override;
  void resumeReading() override;
  void pauseAnswer() override;
  void resumeAnswer() override;
  void answerFor(const filters::HttpFilter& filter, std::string_view name) override;
  void replace(const filters::LocalReply& reply, std::string_view name) override;
  void answerTooLarge(Excess of, std::string_view name) override;
  void serveHead(const filters::AnswerHead& head, bool end) override;
  filters::OtherRequest::Outcome requestInstead(const filters::OtherRequest& other) override;
  std::shared_ptr<const void> memo() const override;
  bool isAnswerBehind() const override;
  void limitKept(std::optional<uint32_t> bytes) override;
  bool mayRouteAgain() const override { return true; }
  void findRouteAgain(http::RequestHead& head) override;
  void renewRoute(http::RequestHead& head) override;

  Stream& stream_;
};

}  // namespace fairlead::proxy
