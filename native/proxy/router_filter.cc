// A router's tries, where they pass filters on their way to hosts.
#include "proxy/request_rules.h"
#include "proxy/router.h"
#include "proxy/stream.h"
#include "proxy/try_filters.h"

namespace fairlead::proxy {

// A tunnel that ends here is none of HTTP's.
const FilterList* Router::tryFilters() const {
  return terminates_ ? nullptr : tryFiltersOf(info_.cluster->cluster(), config());
}

TryFilters* Router::filtersOf(const Attempt& attempt) {
  for (const auto& filters : *try_filters_) {
    if (filters->attempt() == &attempt) return filters.get();
  }
  return nullptr;
}

// As the real server: a host is asked for first, and then the request passes the filters, be there
// a connection yet or not.
void Router::startFiltered(Attempt& attempt, upstream::HttpPool& pool, const FilterList& list) {
  if (!try_filters_) {
    try_filters_ = std::make_unique<std::vector<std::unique_ptr<TryFilters>>>();
  }
  TryFilters* filters = filtersOf(attempt);
  for (size_t i = 0; !filters && i < try_filters_->size(); ++i) {
    TryFilters& one = *(*try_filters_)[i];
    if (!one.attempt()) filters = &one;
  }
  if (!filters)
    filters =
        try_filters_->emplace_back(std::make_unique<TryFilters>(static_cast<TryOwner&>(*this)))
            .get();
  const route::TryFilterSettings* const settings = info_.target && info_.target->try_filters
                                                       ? info_.target->try_filters.get()
                                                       : info_.route->try_filters.get();
  filters->begin(attempt, list.set(), settings);
  const auto priority = static_cast<uint8_t>(info_.route->cluster->plan.priority);
  if (http::RequestHead* const head = liveHead()) {
    if (!filters->onHostChosen(*head)) return;
    attempt.start(pool, priority);
    if (!isWaitedFor(attempt, *filters)) return;
    if (info_.trace) tellTrace(attempt, head->path, head->headers);
    filters->onHead(*head, !has_body_);
    return;
  }
  http::RequestHead& head = info_.context().tried;
  head.authority = restoreKeptHead(attempt, pool.host(), head.headers);
  head.method = kept_head_.method();
  head.path = kept_head_.path();
  if (!filters->onHostChosen(head)) return;
  attempt.start(pool, priority);
  if (!isWaitedFor(attempt, *filters)) return;
  filters->onKept(head, has_body_, request_complete_, kept_body_, kept_trailers_);
}

std::shared_ptr<void>& Router::keptByConnection(uint64_t number) {
  return stream_.keptByConnection(number);
}

bool Router::keepsForTunnel(std::string_view data) {
  if (!info_.tunnels() || tunnel_open_) return false;
  keepForTunnel(data);
  return true;
}

void Router::flushAnswer() {
  if (stream_.hasClient() && stream_.hasAnswerBegun()) stream_.flushAnswer();
}

void Router::pauseReading() { stream_.pauseReading(); }

void Router::resumeReading() {
  if (stream_.hasClient()) stream_.resumeReading();
}

void Router::pauseAnswer() { stream_.pauseAnswer(); }

void Router::resumeAnswer() { stream_.resumeAnswer(); }

void Router::replace(const LocalReply& reply, std::string_view name) {
  info_.noteReplyOwner(name);
  stream_.replace(reply);
}

// As in the real server, clients' statistics know nothing of it.
void Router::answerTooLarge(Excess of, std::string_view name) {
  info_.noteReplyOwner(name);
  stream_.answerTooLarge(of, false);
}

// False: no host has it, and it was answered already, or will be tried again.
bool Router::isWaitedFor(const Attempt& attempt, const TryFilters& filters) const {
  return filters.attempt() == &attempt && attempt.isActive();
}

// What the filters of one try have made of the request is what the next one begins with, and what
// is said of it, as in the real server.
void Router::onTryHead(const http::RequestHead& head, http::SavedHead& spare) {
  if (keepsRequest()) {
    // Its values may be those that are kept, which go on living beside it.
    spare.save(head.method, head.path, head.authority, head.headers);
    std::swap(kept_head_, spare);
  }
  if (info_.uncommon().request.isSet()) {
    info_.touchUncommon().request.save(head.method, head.path, head.authority, head.headers);
  }
}

void Router::abandonTry(Attempt& attempt) {
  if (TryFilters* const filters = try_filters_ ? filtersOf(attempt) : nullptr) filters->drop();
  if (try_logs_) try_logs_->end(attempt);
  attempt.abandon();
}

void Router::dropTryFilters() {
  for (const auto& filters : *try_filters_) {
    if (filters->attempt()) filters->drop();
  }
}

void Router::stopTryFilters() {
  if (!try_filters_) return;
  for (const auto& filters : *try_filters_) filters->stop();
}

void Router::endTryFilters() {
  if (!try_filters_) return;
  for (const auto& filters : *try_filters_) filters->end();
}

}  // namespace fairlead::proxy
