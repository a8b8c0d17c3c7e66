// How a filter, or anything else of a worker, asks a service through one of this proxy's clusters:
// one exchange of HTTP, its answer whole or as it comes, one call of gRPC, or a stream of gRPC
// messages both ways. The real server
// has its async client for this; what hosts see and what is counted is the same.
//
// Who asks has a Call (a member, say) and is, or has, a CallOwner:
//
//   Call call_{*this};                                     // CallOwner& of this object
//   call_.askGrpc(calls, service, "/pkg.Service/Method", message, &about);   // one message
//   call_.ask(calls, service, head, body);                                   // HTTP
//   call_.openHttp(calls, service, cluster, head);                           // as it comes
//   call_.openGrpc(calls, service, "/pkg.Service/Method", &about);           // a stream: then
//   call_.send(message); … call_.finish();                                   // half close
//   call_.cancel();                                        // or ~Call: nothing more is heard
//
// `calls` is the worker's (filters::FilterScope has it), `service` outlives the call. The worker's
// thread.
//
// Always holds:
// - Owners are told at the end of a turn, or by a timer: never inside of ask(), openGrpc(), send(),
//   and never inside of a connection's handler. They may do there what filters may do in a timer
//   (filters/http/filter_place.h), may end themselves, and may ask again by the same Call.
// - Each call that was begun and not cancelled ends with exactly one onCallEnd(), the last of its
//   owner's calls: also without a cluster, a host or a connection.
// - A call takes from its cluster's limits, counts in its cluster's and hosts' statistics
//   (internal.upstream_rq_*), tells outlier detection, and is tried again as its service's
//   configuration wants it.
// - What an answer may hold is bounded: kMostAnswerBytes, of gRPC per message.
// - A worker whose requests ask nobody has no call: memory is a pool's, and used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "calls/service.h"
#include "format/context.h"
#include "http/byte_meter.h"
#include "http/message.h"
#include "route/header_mutations.h"

namespace fairlead::tracing {
class CallSpan;
class RequestTrace;
}  // namespace fairlead::tracing
namespace fairlead::upstream {
class WorkerCluster;
}

namespace fairlead::calls {

class Call;
class Calls;
class Exchange;

// The body of an answer, or a message of gRPC whose service says nothing of it.
inline constexpr size_t kMostAnswerBytes = size_t{32} << 20;

// How a call ended. Views live until onCallEnd() returns.
struct CallAnswer {
  // The host broke off in its answer, or its answer is larger than may be: there is no more of it.
  bool is_broken = false;
  // Of HTTP: of the host, or what the proxy says in its place (503, 504).
  uint16_t status = 0;
  // The proxy's own, in place of a host's.
  bool is_local = false;
  // Of HTTP: the answer's, until another call begins. Empty where it is local.
  const http::HeaderMap* headers = nullptr;
  // Of HTTP: all of it. Of askGrpc(): the message, where the status is 0.
  std::string_view body;
  // Of gRPC.
  int64_t grpc_status = 0;
  std::string_view grpc_message;
  // What went to the host and came of it.
  http::ByteMeter bytes;
};

class CallOwner {
 public:
  // Of a stream of gRPC: its head has come (initial metadata). `headers` lives until this returns.
  virtual void onCallHead(const http::HeaderMap& headers) {}
  // Of HTTP as it comes; values live until this returns. `end`: nothing follows.
  virtual void onCallAnswer(uint16_t status, http::HeaderMap& headers, bool end) {}
  virtual void onCallData(std::string_view data, bool end) {}
  virtual void onCallTrailers(http::HeaderMap& trailers) {}
  // Of a stream of gRPC: one message, whole.
  virtual void onCallMessage(std::string_view message) {}
  // Of a stream of gRPC that was behind (Call::isBehind()): it is no longer.
  virtual void onCallWritable() {}
  // Of a call that is a span, before its end: what else is to be told of it.
  virtual void onCallSpan(tracing::CallSpan& span, const CallAnswer& answer) {}
  virtual void onCallEnd(const CallAnswer& answer) = 0;

 protected:
  ~CallOwner() = default;
};

// The head of a request of HTTP. `headers`: without host, and without what calls say themselves
// (x-envoy-internal, x-forwarded-for, x-envoy-expected-rq-timeout-ms); ask() adds to it. Usually
// the worker's scratch, Calls::headers().
struct CallHead {
  std::string_view method;
  std::string_view path;
  std::string_view authority;
  http::HeaderMap* headers;
};

class Call {
 public:
  explicit Call(CallOwner& owner) : owner_(owner) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { cancel(); }

  // The next call is a span of that trace, which lives until it begins; null: it is none.
  void traceIn(tracing::RequestTrace* trace) { trace_ = trace; }

  // These begin a call, where none is under way. `about`: what formats of the service's metadata
  // speak of; null: nothing has a value.
  void ask(Calls& calls, const Service& service, const CallHead& head, std::string_view body);
  void askGrpc(Calls& calls, const Service& service, std::string_view path,
               std::string_view message, const format::FormatContext* about);
  // A request without a body, of that cluster in place of the service's. The owner hears of the
  // answer's parts, of as many as there are, before its end; of one that is made here it hears at
  // the end alone.
  void openHttp(Calls& calls, const Service& service, upstream::WorkerCluster& cluster,
                const CallHead& head);
  // Without a time limit, whatever the service's is. `more`: beside the service's own metadata.
  void openGrpc(Calls& calls, const Service& service, std::string_view path,
                const format::FormatContext* about,
                std::span<const route::MutationList* const> more = {});

  // Of a stream that is under way, and was not finished. What no connection has taken so far waits.
  void send(std::string_view message);
  void finish();
  // More waits for the host than should.
  bool isBehind() const;
  // No more of the answer is read until it is resumed.
  void pause();
  void resume();

  bool isActive() const { return exchange_ != nullptr; }
  // Of the call that is under way: what went to the host and came of it so far.
  http::ByteMeter bytes() const;
  // It is over, of which its owner has not heard so far.
  bool hasFailed() const;
  // Of a stream: it goes on without this call for so long, for what was sent to come to its host.
  // `on_time`: it took all of that time.
  void leave(uint64_t ms, std::function<void()> on_time);
  // The owner hears nothing more. The stream is reset, if it is not over.
  void cancel();

 private:
  friend class Exchange;

  CallOwner& owner_;
  tracing::RequestTrace* trace_ = nullptr;
  // Null: nothing is under way.
  Exchange* exchange_ = nullptr;
};

}  // namespace fairlead::calls
