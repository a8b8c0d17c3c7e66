#include "calls/calls.h"

#include "base/base64.h"
#include "calls/exchange.h"
#include "http/grpc_frames.h"
#include "http/grpc_timeout.h"

namespace fairlead::calls {

using http::HeaderId;
using http::HeaderMap;

// ---- a worker's ----

Calls::Calls(upstream::WorkerClusters& clusters) : clusters_(clusters), resting_(kMostResting) {}

Calls::~Calls() { endActive(); }

void Calls::endActive() {
  while (Exchange* const exchange = active_.popFront()) {
    exchange->abort();
    delete exchange;
  }
}

void Calls::trim() { resting_.trim(); }

void Calls::prepare(const Service& service) {
  if (!service.google_stats) return;
  stats::Shard<stats::GoogleGrpc>& stats = *service.google_stats->shard(context().worker + 1);
  if (!stats.view().group(0)) stats.add(stats::GoogleGrpc::Counter::GoogleGrpcClientCreation);
}

Exchange& Calls::take() {
  Exchange* const exchange = resting_.take();
  active_.pushBack(exchange);
  return *exchange;
}

void Calls::give(Exchange& exchange) {
  exchange.ListNode<Exchange>::unlink();
  resting_.give(&exchange, loop());
}

// ---- a call ----

namespace {

const format::FormatContext kNothing;

// What is binary, as its name says, is sent as Base64, which the client of Google's does not pad
// (gRPC over HTTP/2, Custom-Metadata).
void encodeBinary(Calls& calls, const Service& service) {
  std::string& text = calls.text();
  for (http::HeaderEntry& entry : calls.headers()) {
    if (!entry.name().ends_with("-bin")) continue;
    text.clear();
    Base64Writer writer;
    writer.add(entry.value(), &text);
    writer.finish(&text);
    while (service.isGoogle() && text.ends_with('=')) text.pop_back();
    entry.setValue(calls.arena().copy(text));
  }
}

// What all calls of gRPC say.
CallHead grpcHead(Calls& calls, const Service& service, std::string_view path, bool has_timeout,
                  const format::FormatContext* about,
                  std::span<const route::MutationList* const> more = {}) {
  HeaderMap& headers = calls.headers();
  Arena& arena = calls.arena();
  arena.reset();
  headers.clear();
  if (has_timeout && service.plan.timeout_ms > 0) {
    headers.set(HeaderId::GrpcTimeout, http::writeGrpcTimeout(service.plan.timeout_ms, arena));
  }
  headers.set(HeaderId::Te, "trailers");
  headers.set(HeaderId::ContentType, "application/grpc");
  if (!service.metadata.empty()) {
    service.metadata.apply(headers, about ? *about : kNothing, arena);
  }
  for (const route::MutationList* const own : more) {
    own->apply(headers, about ? *about : kNothing, arena);
  }
  if (!service.metadata.empty() || !more.empty()) encodeBinary(calls, service);
  return {"POST", path, service.plan.authority, &headers};
}

std::string framed(std::string_view message) {
  std::string frame;
  frame.reserve(http::kGrpcFrameHeaderBytes + message.size());
  http::appendGrpcFrameHeader(&frame, 0, message.size());
  frame.append(message);
  return frame;
}

}  // namespace

void Calls::tellGrpc(std::shared_ptr<const Service> service, std::string_view path,
                     std::string_view message, const format::FormatContext* about) {
  const Service& told = *service;
  take().begin(nullptr, *this, told, Exchange::Kind::Grpc, grpcHead(*this, told, path, true, about),
               framed(message), std::move(service));
}

void Call::ask(Calls& calls, const Service& service, const CallHead& head, std::string_view body) {
  FL_DCHECK(!exchange_);
  exchange_ = &calls.take();
  exchange_->begin(this, calls, service, Exchange::Kind::Http, head, body);
}

void Call::openHttp(Calls& calls, const Service& service, upstream::WorkerCluster& cluster,
                    const CallHead& head) {
  FL_DCHECK(!exchange_);
  exchange_ = &calls.take();
  exchange_->begin(this, calls, service, Exchange::Kind::HttpStream, head, {}, nullptr, &cluster);
}

void Call::askGrpc(Calls& calls, const Service& service, std::string_view path,
                   std::string_view message, const format::FormatContext* about) {
  FL_DCHECK(!exchange_);
  const std::string frame = framed(message);
  exchange_ = &calls.take();
  exchange_->begin(this, calls, service, Exchange::Kind::Grpc,
                   grpcHead(calls, service, path, true, about), frame);
}

void Call::openGrpc(Calls& calls, const Service& service, std::string_view path,
                    const format::FormatContext* about,
                    std::span<const route::MutationList* const> more) {
  FL_DCHECK(!exchange_);
  exchange_ = &calls.take();
  exchange_->begin(this, calls, service, Exchange::Kind::GrpcStream,
                   grpcHead(calls, service, path, false, about, more), {});
}

bool Call::hasFailed() const { return exchange_ && exchange_->hasEnded(); }

void Call::leave(uint64_t ms, std::function<void()> on_time) {
  if (Exchange* const exchange = std::exchange(exchange_, nullptr)) {
    exchange->leave(ms, std::move(on_time));
  }
}

void Call::send(std::string_view message) {
  if (exchange_) exchange_->send(message);
}

void Call::finish() {
  if (exchange_) exchange_->finish();
}

http::ByteMeter Call::bytes() const { return exchange_ ? exchange_->bytes() : http::ByteMeter(); }

bool Call::isBehind() const { return exchange_ && exchange_->isBehind(); }

void Call::pause() {
  if (exchange_) exchange_->pause();
}

void Call::resume() {
  if (exchange_) exchange_->resume();
}

void Call::cancel() {
  if (Exchange* const exchange = std::exchange(exchange_, nullptr)) exchange->cancel();
}

}  // namespace fairlead::calls
