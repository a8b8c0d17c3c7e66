// Whose messages a filter chain passes: where they come out at either end, and what filters ask of
// the request beyond them. A client's stream is one, a try at a host another. The worker's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "filters/http/http_filter.h"

namespace fairlead::proxy {

struct StreamInfo;

// Filters in their order, and what the configuration calls them. Bits of `on` are those that
// requests pass where nobody says anything else.
struct FilterSet {
  std::span<const std::shared_ptr<const filters::HttpFilterConfig>> filters;
  std::span<const std::string> names;
  uint64_t on = 0;
};

// What is more than may wait: of a request that comes, of one that has waited for another filter,
// of an answer.
enum class Excess : uint8_t { Request, HeldRequest, Answer };

class ChainOwner {
 public:
  virtual StreamInfo& info() = 0;
  // One that was held, while it goes on; and values of either head that is under way. The worker's
  // scratch memory, of this kind of chain alone.
  virtual http::RequestHead& released() = 0;
  // Around what is done with it: formats and rules speak of this head.
  virtual void show(http::RequestHead&) {}
  virtual void hide(const http::RequestHead&) {}
  virtual Arena& arena() = 0;
  // What a filter keeps with the client's connection.
  virtual std::shared_ptr<void>& keptByConnection(uint64_t number) = 0;

  // Past the last filter, towards the host.
  virtual void forwardHead(http::RequestHead& head, bool end) = 0;
  virtual void forwardData(std::string_view data, bool end) = 0;
  virtual void forwardTrailers(http::HeaderMap& trailers) = 0;
  virtual void flushRequest() = 0;
  // Past the first one, towards the client.
  virtual void writeHead(uint16_t status, http::HeaderMap& headers, bool end) = 0;
  virtual void writeData(std::string_view data, bool end) = 0;
  virtual void writeTrailers(http::HeaderMap& trailers) = 0;
  virtual void flushAnswer() = 0;

  virtual void pauseReading() = 0;
  virtual void resumeReading() = 0;
  virtual void pauseAnswer() = 0;
  virtual void resumeAnswer() = 0;

  // FilterStatus::Answer was said, by the filter of that name.
  virtual void answerFor(const filters::HttpFilter& filter, std::string_view name) = 0;
  // At any other time.
  virtual void replace(const filters::LocalReply& reply, std::string_view name) = 0;
  // More of a body was to wait than may.
  virtual void answerTooLarge(Excess of, std::string_view name) = 0;

  // What filters on the way to a host never do, and their owner does not know: the head of an
  // answer that comes in parts; another request in place of this one, and what that one remembers.
  virtual void serveHead(const filters::AnswerHead&, bool /*end*/) {}
  virtual filters::OtherRequest::Outcome requestInstead(const filters::OtherRequest&) {
    return filters::OtherRequest::Outcome::Impossible;
  }
  virtual std::shared_ptr<const void> memo() const { return nullptr; }
  // More waits for the client than it should.
  virtual bool isAnswerBehind() const { return false; }
  // So much of a body may be kept to be sent again; absent: as the connection has it.
  virtual void limitKept(std::optional<uint32_t> /*bytes*/) {}

  // Of these two: false: it goes where it goes. The head's route, found again; by the newest table.
  virtual bool mayRouteAgain() const = 0;
  virtual void findRouteAgain(http::RequestHead& head) = 0;
  virtual void renewRoute(http::RequestHead& head) = 0;

 protected:
  ~ChainOwner() = default;
};

}  // namespace fairlead::proxy
