#include "proxy/downstream.h"
#include "proxy/filter_chain.h"
#include "proxy/stream_info.h"

namespace fairlead::proxy {

size_t FilterChain::heldMemory() const {
  size_t bytes = 0;
  for (size_t i = 0; i < count_; ++i) {
    for (const HeldMessage* held : links_[i]->held) bytes += held ? held->body.memory() : 0;
  }
  return bytes;
}

using filters::FilterStatus;
using filters::HttpFilter;

namespace {

// Slabs of a body that waited, between two flushes.
constexpr int kPiecesAtOnce = 16;

}  // namespace

// ---- what waits ----

HeldMessage& FilterChain::heldBy(Side side, Link& link) {
  HeldMessage*& held = link.held[static_cast<size_t>(side)];
  if (held) return *held;
  if (free_.empty()) free_.push_back(std::make_unique<HeldMessage>());
  held = free_.back().release();
  free_.pop_back();
  return *held;
}

void FilterChain::holdHead(Side side, Link& link, const Head& head) {
  HeldMessage& held = heldBy(side, link);
  if (side == Side::Request) {
    held.head.save(head.request->method, head.request->path, head.request->authority,
                   *head.headers);
  } else {
    held.head.save({}, {}, {}, *head.headers);
    held.status = head.status;
  }
  held.is_complete = head.end;
}

void FilterChain::holdData(Side side, Link& link, std::string_view data, bool end,
                           bool is_wanted_whole) {
  HeldMessage& held = heldBy(side, link);
  held.body.append(owner_.info().loop().slabs(), data);
  held.is_complete = end;
  held.is_wanted_whole = is_wanted_whole;
  const uint32_t limit = limits_[static_cast<size_t>(side)];
  if (limit == 0 || held.body.size() <= limit) return;
  if (is_wanted_whole) {
    owner_.answerTooLarge(excessOf(side), nameOf(link));
    return;
  }
  if (std::exchange(held.pauses_sender, true)) return;
  if (side == Side::Request) {
    owner_.pauseReading();
  } else {
    owner_.pauseAnswer();
  }
}

void FilterChain::letGo(Side side, Link& link, std::vector<std::unique_ptr<HeldMessage>>* into) {
  HeldMessage* held = std::exchange(link.held[static_cast<size_t>(side)], nullptr);
  if (!held) return;
  const bool paused = held->pauses_sender;
  held->body.clear(owner_.info().loop().slabs());
  held->clear();
  into->push_back(std::unique_ptr<HeldMessage>(held));
  if (!paused) return;
  if (side == Side::Request) {
    owner_.resumeReading();
  } else {
    owner_.resumeAnswer();
  }
}

// What waits already, for a filter before, counts as well: unless it merely had to wait.
void FilterChain::limitRequest(uint32_t bytes) {
  limits_[static_cast<size_t>(Side::Request)] = bytes;
  // The router's, too: for what it may have to send again.
  owner_.limitKept(bytes);
  for (const Link* link : links_) {
    const HeldMessage* const held = link->held[static_cast<size_t>(Side::Request)];
    // Of HTTP/1 the end comes apart in the real server: who limits what it holds has held it by
    // then.
    const bool is_wanted_whole =
        held && (held->is_wanted_whole || (link->has_limit && !owner_.info().is_http2));
    if (!is_wanted_whole) continue;
    is_request_too_large_ |= held->body.size() + last_piece_bytes_ > bytes;
  }
}

// ---- and goes on ----

// For the time of one call.
http::RequestHead& FilterChain::restored(Side side, const HeldMessage& held) {
  http::RequestHead& head = owner_.released();
  held.head.restore(&head.headers);
  if (side == Side::Response) return head;
  const StreamInfo& info = owner_.info();
  head.version = info.is_http_10 ? http::Version::Http10 : info.clientVersion();
  head.upgrades = info.is_upgrade;
  head.method = held.head.method();
  head.path = held.head.path();
  head.authority = held.head.authority();
  return head;
}

bool FilterChain::releaseHead(Side side, Link& link, bool end) {
  HeldMessage& held = *link.held[static_cast<size_t>(side)];
  const uint32_t life = life_;
  Arena& arena = owner_.arena();
  arena.reset();
  http::RequestHead& head = restored(side, held);
  held.head.unset();
  if (side == Side::Response) {
    link.filter->onResponseHeadReleased(held.status, head.headers, arena);
    passHead(side, after(side, link), {&head, &head.headers, held.status, end});
    return goesOn(side, life);
  }
  owner_.show(head);
  link.filter->onRequestHeadReleased(head, arena);
  if (std::exchange(is_route_cleared_, false)) findRouteAgain(link, head);
  passHead(side, after(side, link), {&head, &head.headers, held.status, end});
  if (life != life_) return false;
  owner_.hide(head);
  return goesOn(side, life);
}

bool FilterChain::releaseBody(Side side, Link& link, bool end) {
  HeldMessage& held = *link.held[static_cast<size_t>(side)];
  const uint32_t life = life_;
  const size_t next = after(side, link);
  // An end without a body came after a head that went on.
  if (held.body.empty() && end) passData(side, next, {}, true);
  while (goesOn(side, life) && !held.body.empty()) {
    iovec pieces[kPiecesAtOnce];
    const int count = held.body.gather(pieces, kPiecesAtOnce);
    size_t left = held.body.size();
    for (int i = 0; i < count && goesOn(side, life); ++i) {
      left -= pieces[i].iov_len;
      passData(side, next, {static_cast<char*>(pieces[i].iov_base), pieces[i].iov_len},
               end && left == 0);
    }
    if (!goesOn(side, life)) return false;
    flush(side);
    if (!goesOn(side, life)) return false;
    held.body.consume(owner_.info().loop().slabs(), held.body.size() - left);
  }
  return goesOn(side, life);
}

// What filters before it were made of stays: the table that they stand on is kept.
void FilterChain::restart(Link& link) {
  if (isOver(Side::Request) || !link.holds(Side::Request)) return;
  HeldMessage& held = *link.held[static_cast<size_t>(Side::Request)];
  if (!held.head.isSet() || !owner_.mayRouteAgain()) return goOn(Side::Request, link);
  StreamInfo& info = owner_.info();
  http::RequestHead& head = restored(Side::Request, held);
  owner_.renewRoute(head);
  // There still is none: to ask again would not end.
  if (!info.route) return goOn(Side::Request, link);
  const route::FilterSettings* const settings = info.route ? &info.route->filters : nullptr;
  link.filter->onEnd();
  link.filter->~HttpFilter();
  link.route_configs = settings ? settings->configsOf(static_cast<uint32_t>(link.config))
                                : route::FilterConfigList();
  // Its place is filled before anything else is made: whatever ends the request finds a filter.
  scope_->route = info.route;
  scope_->table = info.table ? &*info.table : nullptr;
  scope_->missing_table = info.missing_table;
  HttpFilter* const again = set_.filters[link.config]->make(memory_, *scope_, link);
  link.filter = again ? again : memory_.make<HttpFilter>();
  const uint64_t on =
      settings ? settings->apply(info.config().filters_on) : info.config().filters_on;
  on_ = on & (info.upgrade ? info.upgrade->chain : info.config().chain);
  remakeBehind(link);
  const bool end = held.is_complete && held.body.empty() && !held.trailers.isSet();
  switch (link.filter->onRequestHead(head, info.viewOf(head), end)) {
    case FilterStatus::Continue:
      return goOn(Side::Request, link);
    case FilterStatus::Answer:
      return owner_.answerFor(*link.filter, nameOf(link));
    default:
      return;
  }
}

// What is set may lie in what is saved.
void FilterChain::editHead(Side side, Link& link, filters::HeadEditor& editor) {
  if (isOver(side) || !link.holds(side)) return;
  HeldMessage& held = *link.held[static_cast<size_t>(side)];
  if (!held.head.isSet()) return;
  Arena& arena = owner_.arena();
  arena.reset();
  http::RequestHead& head = restored(side, held);
  http::SavedHead edited;
  if (side == Side::Request) {
    editor.edit(&head, nullptr, head.headers, arena);
    edited.save(head.method, head.path, head.authority, head.headers);
  } else {
    editor.edit(nullptr, &held.status, head.headers, arena);
    edited.save({}, {}, {}, head.headers);
  }
  held.head = std::move(edited);
}

filters::HeadLimits FilterChain::limitsOf(Side side) const {
  const StreamInfo& info = owner_.info();
  if (side == Side::Request || !info.cluster) {
    const plan::HttpConnectionManager& plan = info.config().plan;
    return {plan.max_headers_count, plan.max_request_headers_kb};
  }
  const plan::Cluster& cluster = info.cluster->settings();
  return {cluster.max_headers_count, cluster.max_response_headers_kb};
}

void FilterChain::inject(Side side, Link& link, std::string_view data, bool end) {
  if (isOver(side)) return;
  const uint32_t life = life_;
  passData(side, after(side, link), data, end);
  if (life == life_) flush(side);
}

void FilterChain::injectTrailers(Side side, Link& link) {
  if (isOver(side)) return;
  const uint32_t life = life_;
  http::HeaderMap& trailers = owner_.released().headers;
  trailers.clear();
  link.filter->addTrailers(trailers, owner_.arena());
  passTrailers(side, after(side, link), trailers);
  if (life == life_) flush(side);
}

void FilterChain::flush(Side side) {
  if (side == Side::Request) {
    owner_.flushRequest();
  } else {
    owner_.flushAnswer();
  }
}

void FilterChain::drop(Side side) {
  over_[static_cast<size_t>(side)] = true;
  for (Link* link : links_) letGo(side, *link, &dropped_);
}

}  // namespace fairlead::proxy
