// A stream whose host's redirect is followed here: its request ends, and another one of the same
// client begins in its place.
#include "format/grpc_status.h"
#include "log/log.h"
#include "proxy/downstream.h"
#include "proxy/redirect_place.h"
#include "proxy/stream.h"

namespace fairlead::proxy {

using Counter = stats::Http::Counter;

// Of a filter, in the place of an answer that nobody has seen.
filters::OtherRequest::Outcome Stream::requestInstead(const filters::OtherRequest& other) {
  using Outcome = filters::OtherRequest::Outcome;
  const http::SavedHead& kept = info_.uncommon().request;
  http::RequestHead* const live = info_.live_head;
  if (!client_ || head_written_ || !isRequestComplete() || (!live && !kept.isSet())) {
    return Outcome::Impossible;
  }
  // Scratch is what the answer may be in.
  const auto made = std::make_unique<http::RequestHead>();
  http::RequestHead& next = *made;
  if (live) {
    next.headers = live->headers;
  } else {
    kept.restore(&next.headers);
  }
  next.method = live ? live->method : kept.method();
  next.path = live ? live->path : kept.path();
  next.authority = live ? live->authority : kept.authority();
  Arena& arena = context().arena;
  const std::string_view location = other.to.location(info_.viewOf(next), {}, arena);
  RedirectPlace place;
  if (!readRedirectPlace(location, &place)) return Outcome::BadAddress;
  next.path = place.path;
  next.authority = place.authority;
  format::FormatContext format;
  info_.fill(&format);
  format.method = next.method;
  format.path = next.path;
  format.authority = next.authority;
  format.request_headers = &next.headers;
  format.status = other.status;
  other.request_add.apply(next.headers, format, arena);
  route::RequestView view = info_.viewOf(next);
  view.scheme = place.is_http ? "http" : "https";
  const route::VirtualHost* const host = info_.table ? info_.table->findHost(view) : nullptr;
  const route::Route* const route = host ? info_.table->findRoute(*host, view) : nullptr;
  if (!route) return Outcome::NoRoute;
  next.method = "GET";
  next.headers.remove(http::HeaderId::ContentLength);
  http::SavedHead head;
  head.save(next.method, next.path, next.authority, next.headers);
  // Logs tell of the request that it has become.
  if (live) {
    live->headers = next.headers;
    live->method = next.method;
    live->path = next.path;
    live->authority = next.authority;
  } else {
    // What it was made of is overwritten.
    head.restore(&next.headers);
    info_.touchUncommon().request.save(head.method(), head.path(), head.authority(), next.headers);
  }
  info_.virtual_host = host;
  info_.route = route;
  info_.target = nullptr;
  info_.use(nullptr);
  nameCluster(view);
  info_.scheme = view.scheme;
  info_.status = other.status;
  info_.details = "internal_redirect";
  keepAnswer(other.headers);
  redirects().memo = other.memo;
  router_.goElsewhere(std::move(head), !place.is_http);
  return Outcome::Begun;
}

void Stream::keepAnswer(const http::HeaderMap& headers) {
  constexpr uint32_t kStatusBytes = 10;
  uint32_t bytes = kStatusBytes;
  for (const http::HeaderEntry& entry : headers) {
    if (entry.name_size > 0) bytes += entry.name_size + entry.value_size;
  }
  info_.downstream_bytes.plain_sent = bytes;
  if (keepsResponseHead()) info_.touchUncommon().response.save({}, {}, {}, headers);
}

// Counted and logged, but for an answer, which its client does not get.
void Stream::finishRedirected() {
  log::debug(log::Component::Http, info_.tags(), "internal redirect");
  become(State::Resting);
  countEnd();
}

void Stream::beginAgain(http::SavedHead head, std::string_view scheme, http::SavedHead trailers,
                        SlabChain body) {
  finishRedirected();
  const net::Address client = info_.client_address;
  const bool is_internal = info_.is_internal;
  const bool is_http_10 = info_.is_http_10;
  // Whatever hosts are asked by: its client wants no body.
  const bool is_head = info_.is_head;
  const uint64_t received = info_.bytes_received;
  http::ByteMeter bytes = info_.downstream_bytes;
  bytes.plain_sent = 0;
  const http::KeptNames* const names = info_.requestNames();
  Downstream& downstream = *downstream_;
  http::ServerStream& client_stream = *client_;
  router_.clear();
  info_.clear();
  answer_pauses_ = 0;
  idle_timeout_ms_ = 0;
  idle_deadline_ = request_deadline_ = duration_deadline_ = net::kNever;
  start(downstream, client_stream);
  info_.client_address = client;
  info_.is_internal = is_internal;
  info_.is_http_10 = is_http_10;
  info_.downstream_bytes = bytes;
  info_.bytes_received = received;
  info_.scheme = scheme;
  if (names) info_.touchUncommon().request_names = names;
  info_.id = context().upstream.random.next();
  context().arena.reset();
  http::RequestHead& released = context().released;
  head.restore(&released.headers);
  released.method = head.method();
  released.path = head.path();
  released.authority = head.authority();
  released.upgrades = false;
  info_.is_head = is_head || released.method == "HEAD";
  const http::HeaderEntry* type = released.headers.find(http::HeaderId::ContentType);
  info_.is_grpc = type && format::isGrpcContentType(type->value());
  become(State::Receiving);
  const bool end = body.empty() && !trailers.isSet();
  beginDeadlines(end);
  is_fed_again_ = !end;
  if (end) requestComplete();
  const uint64_t id = info_.id;
  info_.live_head = &released;
  follow(released);
  const auto isOver = [&] { return isDone() || info_.id != id; };
  if (!isOver()) {
    info_.live_head = nullptr;
    keepHead(released);
    // As the real server counts: what is sent again has come again.
    info_.bytes_received += body.size();
    if (!end) feedAgain(trailers, body);
  }
  if (!body.empty()) body.clear(downstream.server().context().loop().slabs());
}

// What follows the head: it is all here.
void Stream::feedAgain(http::SavedHead& trailers, const SlabChain& body) {
  const uint64_t id = info_.id;
  size_t left = body.size();
  const auto isOver = [&] { return isDone() || info_.id != id; };
  body.forEachPiece([&](std::string_view piece) {
    left -= piece.size();
    if (isOver()) return;
    const bool end = left == 0 && !trailers.isSet();
    if (end) requestComplete();
    if (filtered_) {
      chain_->onRequestData(piece, end);
    } else {
      router_.onData(piece, end);
    }
  });
  if (!isOver() && trailers.isSet()) {
    requestComplete();
    http::HeaderMap& headers = context().released.headers;
    trailers.restore(&headers);
    if (filtered_) {
      chain_->onRequestTrailers(headers);
    } else {
      router_.onTrailers(headers);
    }
  }
  if (!isOver()) router_.onReadEnd();
}

}  // namespace fairlead::proxy
