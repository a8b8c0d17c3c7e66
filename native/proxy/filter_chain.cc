#include "proxy/filter_chain.h"

#include "proxy/downstream.h"
#include "proxy/stream_info.h"

namespace fairlead::proxy {

using filters::FilterStatus;
using filters::HttpFilter;

// ---- a request's filters ----

bool FilterChain::start(const FilterSet& set, const route::FilterSettings* settings) {
  prepare(set);
  makeLinks(0, configsBy(settings));
  return count_ > 0;
}

bool FilterChain::start(const FilterSet& set, const route::TryFilterSettings* settings) {
  prepare(set);
  if (settings) on_ = settings->apply(set.names, on_);
  makeLinks(0, [&](size_t i) {
    return settings ? settings->configsOf(set.names[i]) : route::FilterConfigList();
  });
  return count_ > 0;
}

void FilterChain::prepare(const FilterSet& set) {
  StreamInfo& info = owner_.info();
  set_ = set;
  on_ = set.on;
  upstream::WorkerClusters& clusters = info.context().clusters;
  StreamInfo::Uncommon& uncommon = info.touchUncommon();
  notes_.emplace(filters::FilterNotes{info.is_health_check, info.flags, uncommon.metadata,
                                      uncommon.typed_metadata, uncommon.filter_state});
  scope_.emplace(filters::FilterScope{clusters, clusters.context().worker, info.loop().now(),
                                      info.id, info.route, *notes_, &info.context().calls,
                                      info.table ? &*info.table : nullptr, info.missing_table});
  limits_[0] = limits_[1] = info.bufferLimit();
  owner_.limitKept(std::nullopt);
}

// Of the filters that are on, from that one of the set on.
template <typename ConfigsOf>
void FilterChain::makeLinks(size_t first, ConfigsOf configs_of) {
  for (size_t i = first; i < set_.filters.size(); ++i) {
    if ((on_ >> i & 1) == 0) continue;
    Link* link = memory_.make<Link>(*this, count_, i, configs_of(i));
    link->filter = set_.filters[i]->make(memory_, *scope_, *link);
    if (!link->filter) continue;
    links_.push_back(link);
    ++count_;
  }
}

void FilterChain::insert(
    const Link& behind, std::span<const std::shared_ptr<const filters::HttpFilterConfig>> filters) {
  size_t at = behind.index + 1;
  for (const auto& config : filters) {
    Link* link = memory_.make<Link>(*this, at, behind.config, behind.route_configs);
    link->filter = config->make(memory_, *scope_, *link);
    if (!link->filter) continue;
    links_.insert(links_.begin() + static_cast<ptrdiff_t>(at), link);
    ++at;
  }
  count_ = links_.size();
  for (; at < count_; ++at) links_[at]->index = at;
}

void FilterChain::stop() {
  if (std::exchange(is_stopped_, true)) return;
  ++life_;
  for (Link* link : links_) {
    link->filter->onEnd();
    for (HeldMessage* held : link->held) {
      // With the stream it is over for whoever sends to it.
      if (held) held->pauses_sender = false;
    }
    letGo(Side::Request, *link);
    letGo(Side::Response, *link);
  }
  for (auto& held : dropped_) free_.push_back(std::move(held));
  dropped_.clear();
  for (const auto& held : free_) held->trim();
  answering_ = nullptr;
  over_[0] = over_[1] = true;
}

void FilterChain::end() {
  stop();
  for (Link* link : links_) link->filter->~HttpFilter();
  links_.clear();
  count_ = 0;
  over_[0] = over_[1] = is_stopped_ = false;
  memory_.reset();
}

// ---- what waited goes on ----

// What is given on may be gathered without a copy, so it is let go after it was flushed.
template <typename PassRest>
void FilterChain::release(Side side, Link& link, bool has_rest, PassRest pass_rest) {
  HeldMessage& held = *link.held[static_cast<size_t>(side)];
  const uint32_t life = life_;
  const bool has_trailers = held.trailers.isSet();
  const bool end = held.is_complete && !has_trailers && !has_rest;
  const bool ends_with_head = held.head.isSet() && end && held.body.empty();
  if (held.head.isSet() && !releaseHead(side, link, ends_with_head)) return;
  if (!ends_with_head && !releaseBody(side, link, end)) return;
  if (has_trailers) {
    http::HeaderMap& trailers = owner_.released().headers;
    held.trailers.restore(&trailers);
    passTrailers(side, after(side, link), trailers);
  } else {
    pass_rest();
  }
  if (life != life_) return;
  flush(side);
  if (goesOn(side, life)) letGo(side, link);
}

void FilterChain::goOn(Side side, Link& link) {
  if (!isOver(side) && link.holds(side)) release(side, link, false, [] {});
}

void FilterChain::goOnWithHead(Side side, Link& link) {
  if (isOver(side) || !link.holds(side)) return;
  if (link.held[static_cast<size_t>(side)]->head.isSet()) release(side, link, true, [] {});
}

// ---- a message's way ----

bool FilterChain::onHostChosen(const http::RequestHead& head) {
  for (Link* link : links_) {
    const FilterStatus status = link->filter->onHostChosen(head, owner_.info().viewOf(head));
    if (status != FilterStatus::Answer) continue;
    owner_.answerFor(*link->filter, nameOf(*link));
    return false;
  }
  return true;
}

void FilterChain::onRequestHead(http::RequestHead& head, bool end) {
  passHead(Side::Request, 0, {&head, &head.headers, 0, end});
}

void FilterChain::onResponseHead(uint16_t status, http::HeaderMap& headers, bool end) {
  passHead(Side::Response, first(Side::Response), {nullptr, &headers, status, end});
}

void FilterChain::passHead(Side side, size_t at, const Head& head) {
  for (; at < count_; ++at) {
    Link& link = linkAt(side, at);
    const FilterStatus status = tellHead(side, link, head);
    if (std::exchange(is_request_too_large_, false)) {
      owner_.answerTooLarge(Excess::HeldRequest, nameOf(link));
      return;
    }
    switch (status) {
      case FilterStatus::Continue:
        continue;
      case FilterStatus::Answer:
        owner_.answerFor(*link.filter, nameOf(link));
        return;
      case FilterStatus::Replace:
        holdHead(side, link, {head.request, head.headers, head.status, false});
        passReplaced(side, link, true);
        return;
      default:
        holdHead(side, link, head);
        return;
    }
  }
  if (side == Side::Request) {
    owner_.forwardHead(*head.request, head.end);
  } else {
    owner_.writeHead(head.status, *head.headers, head.end);
  }
}

void FilterChain::passData(Side side, size_t at, std::string_view data, bool end) {
  for (; at < count_; ++at) {
    Link& link = linkAt(side, at);
    const FilterStatus status = side == Side::Request ? link.filter->onRequestData(data, end)
                                                      : link.filter->onResponseData(data, end);
    switch (status) {
      case FilterStatus::Continue:
        if (!link.holds(side)) continue;
        last_piece_bytes_ = data.size();
        release(side, link, true, [&] { passData(side, at + 1, data, end); });
        last_piece_bytes_ = 0;
        return;
      case FilterStatus::Pause:
      case FilterStatus::Buffer:
        holdData(side, link, data, end, status == FilterStatus::Buffer);
        return;
      case FilterStatus::Take:
        return;
      case FilterStatus::Replace:
        passReplaced(side, link, end);
        return;
      case FilterStatus::Answer:
        owner_.answerFor(*link.filter, nameOf(link));
        return;
      case FilterStatus::TooLarge:
        owner_.answerTooLarge(excessOf(side), nameOf(link));
        return;
    }
  }
  if (side == Side::Request) {
    owner_.forwardData(data, end);
  } else {
    owner_.writeData(data, end);
  }
}

void FilterChain::passTrailers(Side side, size_t at, http::HeaderMap& trailers) {
  for (; at < count_; ++at) {
    Link& link = linkAt(side, at);
    const FilterStatus status = side == Side::Request ? link.filter->onRequestTrailers(trailers)
                                                      : link.filter->onResponseTrailers(trailers);
    switch (status) {
      case FilterStatus::Continue:
        if (!link.holds(side)) continue;
        release(side, link, true, [&] { passTrailers(side, at + 1, trailers); });
        return;
      case FilterStatus::Replace:
        passReplaced(side, link, true);
        return;
      case FilterStatus::Take:
        return;
      case FilterStatus::Answer:
        owner_.answerFor(*link.filter, nameOf(link));
        return;
      default:
        heldBy(side, link).trailers.save({}, {}, {}, trailers);
        heldBy(side, link).is_complete = true;
        return;
    }
  }
  if (side == Side::Request) {
    owner_.forwardTrailers(trailers);
  } else {
    owner_.writeTrailers(trailers);
  }
}

// It may be given on without a copy, so it is flushed before the filter is called again.
void FilterChain::passReplaced(Side side, Link& link, bool end) {
  const uint32_t life = life_;
  const size_t next = after(side, link);
  const auto pass = [&] {
    Arena& arena = owner_.arena();
    http::HeaderMap& trailers = owner_.released().headers;
    trailers.clear();
    if (!end || !link.filter->addTrailers(trailers, arena)) {
      passData(side, next, link.filter->replacement(), end);
      return;
    }
    passData(side, next, link.filter->replacement(), false);
    if (!goesOn(side, life)) return;
    flush(side);
    if (!goesOn(side, life)) return;
    trailers.clear();
    link.filter->addTrailers(trailers, arena);
    passTrailers(side, next, trailers);
  };
  if (link.holds(side)) {
    release(side, link, true, pass);
    return;
  }
  pass();
  if (life == life_) flush(side);
}

FilterStatus FilterChain::tellHead(Side side, Link& link, const Head& head) {
  if (side == Side::Response) {
    return link.filter->onResponseHead(head.status, *head.headers, head.end, owner_.arena());
  }
  const FilterStatus status =
      link.filter->onRequestHead(*head.request, owner_.info().viewOf(*head.request), head.end);
  if (std::exchange(is_route_cleared_, false)) findRouteAgain(link, *head.request);
  return status;
}

// The filters behind it have seen nothing so far, and are made anew.
void FilterChain::findRouteAgain(const Link& from, http::RequestHead& head) {
  owner_.findRouteAgain(head);
  remakeBehind(from);
}

void FilterChain::remakeBehind(const Link& from) {
  const StreamInfo& info = owner_.info();
  const route::Route* const route = info.route;
  scope_->route = route;
  scope_->table = info.table ? &*info.table : nullptr;
  scope_->missing_table = info.missing_table;
  size_t first = from.index + 1;
  // Those that came to be here with it stay.
  while (first < count_ && links_[first]->config == from.config) ++first;
  for (size_t i = first; i < count_; ++i) {
    links_[i]->filter->onEnd();
    links_[i]->filter->~HttpFilter();
  }
  count_ = first;
  links_.resize(count_);
  makeLinks(from.config + 1, configsBy(route ? &route->filters : nullptr));
}

void FilterChain::onRequestForwarded(const http::RequestHead& head) {
  for (Link* link : links_) link->filter->onRequestForwarded(head);
}

void FilterChain::onResponseSent(uint16_t status, const http::HeaderMap& headers) {
  for (size_t i = links_.size(); i > 0; --i) links_[i - 1]->filter->onResponseSent(status, headers);
}

bool FilterChain::beginAnswer(Link& link, const filters::AnswerHead& head, bool end) {
  if (isOver(Side::Request)) return false;
  answering_ = &link;
  drop(Side::Request);
  return giveAnswer(link, [&] { owner_.serveHead(head, end); });
}

std::string_view FilterChain::nameOf(const Link& link) const { return set_.names[link.config]; }

// ---- a link ----

net::Loop& FilterChain::Link::loop() { return chain.owner_.info().loop(); }

std::string_view FilterChain::Link::clusterName() const {
  upstream::WorkerCluster* const cluster = chain.owner_.info().cluster;
  return cluster ? cluster->cluster().observabilityName() : std::string_view();
}

void FilterChain::Link::describe(format::FormatContext* context) const {
  chain.owner_.info().fill(context);
}

tracing::RequestTrace* FilterChain::Link::trace() const { return chain.owner_.info().trace; }

bool FilterChain::Link::hasClient() const { return chain.owner_.info().downstream != nullptr; }

const net::Address& FilterChain::Link::peer() const {
  static const net::Address* const kNobody = new net::Address;
  return hasClient() ? chain.owner_.info().downstream->remote() : *kNobody;
}

std::shared_ptr<void>& FilterChain::Link::keptByConnection(uint64_t number) {
  return chain.owner_.keptByConnection(number);
}

void FilterChain::Link::answer(const filters::LocalReply& reply) {
  if (chain.isOver(Side::Request)) return;
  chain.owner_.replace(reply, chain.nameOf(*this));
}

void FilterChain::Link::answerInstead(const filters::LocalReply& reply) {
  if (chain.is_stopped_) return;
  chain.owner_.replace(reply, chain.nameOf(*this));
}

filters::OtherRequest::Outcome FilterChain::Link::requestInstead(
    const filters::OtherRequest& other) {
  if (chain.isOver(Side::Response)) return filters::OtherRequest::Outcome::Impossible;
  return chain.owner_.requestInstead(other);
}

std::shared_ptr<const void> FilterChain::Link::memo() const { return chain.owner_.memo(); }

void FilterChain::Link::breakAnswer(const filters::LocalReply& reply) {
  // Somebody else has answered.
  if (chain.isOver(Side::Response) || chain.answering_ != this) return;
  chain.owner_.replace(reply, chain.nameOf(*this));
}

bool FilterChain::Link::isAnswerBehind() const { return chain.owner_.isAnswerBehind(); }

void FilterChain::Link::pauseRequest() {
  if (!chain.is_stopped_) chain.owner_.pauseReading();
}

void FilterChain::Link::resumeRequest() {
  if (!chain.is_stopped_) chain.owner_.resumeReading();
}

void FilterChain::Link::pauseResponse() {
  if (!chain.is_stopped_) chain.owner_.pauseAnswer();
}

void FilterChain::Link::resumeResponse() {
  if (!chain.is_stopped_) chain.owner_.resumeAnswer();
}

}  // namespace fairlead::proxy
