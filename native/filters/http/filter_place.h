// What a filter can ask of the stream that it works on, beside what its statuses say. Lives as long
// as the filter; the worker's thread.
//
// None of these is for inside of the filter's own calls from its chain: there statuses speak. They
// are for timers, deferred work and tasks that were posted. When they return the stream may have
// ended, and the filter with it: nothing of it may be touched after them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "filters/http/answer_head.h"
#include "filters/http/local_reply.h"
#include "filters/http/other_request.h"
#include "format/context.h"
#include "http/message.h"
#include "net/loop.h"
#include "route/filter_settings.h"

namespace fairlead::tracing {
class RequestTrace;
}

namespace fairlead::filters {

class HttpFilterConfig;

// How large the head of a message may become.
struct HeadLimits {
  uint32_t count;
  uint32_t kb;
};

// Who changes a head that waits.
class HeadEditor {
 public:
  // `request`: of a request; `status`: of an answer; null: it is none. Values that are set live as
  // long as the call, or in the arena.
  virtual void edit(http::RequestHead* request, uint16_t* status, http::HeaderMap& headers,
                    Arena& arena) = 0;

 protected:
  ~HeadEditor() = default;
};

class FilterPlace {
 public:
  // What the route says of this filter, the most specific first.
  virtual route::FilterConfigList routeConfigs() const = 0;
  virtual net::Loop& loop() = 0;
  // The cluster that the request goes to, as statistics have it; empty: none, as far as is known.
  virtual std::string_view clusterName() const = 0;
  // All that is known of the request and its connection, for formats and rules. For inside, too.
  virtual void describe(format::FormatContext* context) const = 0;
  // What calls that are made for the request are part of; null: it is not traced. For inside, too.
  virtual tracing::RequestTrace* trace() const { return nullptr; }
  // False: the request is a copy's, which no client sees.
  virtual bool hasClient() const { return true; }
  // The other end of the client's connection, as a proxy before us has told it. For inside, too.
  virtual const net::Address& peer() const = 0;
  // What a filter keeps with the client's connection, under a number that is its own; null at
  // first. For inside, too.
  virtual std::shared_ptr<void>& keptByConnection(uint64_t number) = 0;
  // Of a body that waits, of the answer and of the request; 0: without a limit.
  virtual uint32_t bufferLimit() const = 0;
  virtual uint32_t requestBufferLimit() const = 0;
  // Of the request's body from here on, for all filters. This one is for inside, too.
  virtual void limitRequestBuffer(uint32_t bytes) = 0;
  // For inside of onRequestHead() and onRequestHeadReleased(), which make another request of the
  // head: its route is found again, for the filters behind this one as well. They are the same
  // ones, with that route's configurations.
  virtual void clearRoute() = 0;
  // Likewise: other filters of the request stand right behind this one, in their order.
  virtual void insert(std::span<const std::shared_ptr<const HttpFilterConfig>> filters) = 0;

  // For a filter that holds the request's head, alone: the head comes to it anew, by the newest
  // routes. It ends with this, and another is made in its place, as of those behind it.
  virtual void restartRequest() {}
  // What the filter stopped goes on, past it.
  virtual void continueRequest() = 0;
  virtual void continueResponse() = 0;
  // The head that the filter stopped goes on by itself, whatever its message was: the filter, which
  // takes the rest, injects what comes behind it.
  virtual void continueRequestHead() {}
  virtual void continueResponseHead() {}
  // The head that the filter has stopped; without one, nobody is called.
  virtual void editRequestHead(HeadEditor&) {}
  virtual void editResponseHead(HeadEditor&) {}
  virtual HeadLimits requestLimits() const { return {100, 60}; }
  virtual HeadLimits responseLimits() const { return {100, 60}; }
  // As though it came to the filter's successor, before what the filter stopped.
  virtual void injectRequestData(std::string_view data, bool end) = 0;
  virtual void injectResponseData(std::string_view data, bool end) = 0;
  // What the filter's addTrailers() adds, as the end of the request, or of the answer.
  virtual void injectRequestTrailers() {}
  virtual void injectResponseTrailers() = 0;
  // For inside of onResponseHead().
  virtual OtherRequest::Outcome requestInstead(const OtherRequest& other) {
    return OtherRequest::Outcome::Impossible;
  }
  // Of the request in whose place this one is; null: of none. For inside, too.
  virtual std::shared_ptr<const void> memo() const { return nullptr; }
  // In place of what becomes of the request; once an answer has begun, it breaks off.
  virtual void answer(const LocalReply& reply) = 0;
  // The same in place of an answer, the proxy's own or not, that the filter works on.
  virtual void answerInstead(const LocalReply& reply) { answer(reply); }

  // An answer in parts, as a host gives it, in place of the host's: for a filter that holds the
  // request's head. It passes all filters, and this one hears onAnswerWritable(). False, of all of
  // these: the request has ended, or is answered otherwise, and the filter may be gone.
  virtual bool beginAnswer(const AnswerHead& head, bool end) { return false; }
  virtual bool giveAnswerData(std::string_view data, bool end) { return false; }
  virtual bool giveAnswerTrailers(http::HeaderMap& trailers) { return false; }
  // There is no more of it. What is not sent yet is answered in its place.
  virtual void breakAnswer(const LocalReply& reply) {}
  // More waits for the client than it should.
  virtual bool isAnswerBehind() const { return false; }

  // For a filter that keeps what it takes: no more of the message is read until as many resumes.
  // These are for inside, too.
  virtual void pauseRequest() = 0;
  virtual void resumeRequest() = 0;
  virtual void pauseResponse() = 0;
  virtual void resumeResponse() = 0;

 protected:
  ~FilterPlace() = default;
};

}  // namespace fairlead::filters
