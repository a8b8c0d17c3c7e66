// A copy's way through the filters of tries, and what their logs say of it: as the real server,
// whose copies are requests of a router that has no client.
#include "proxy/mirror_tries.h"

#include "proxy/downstream.h"
#include "proxy/mirror.h"
#include "proxy/request_rules.h"

namespace fairlead::proxy {

// Once its head is kept.
void Mirror::beginTries(const StreamInfo& request) {
  const FilterList* const list = tryFiltersOf(cluster_->cluster(), *config_);
  const bool is_logged = !config_->upstream_logs.empty();
  if (!list && !is_logged) return;
  if (!tries_) tries_ = std::make_unique<MirrorTries>(static_cast<TryOwner&>(*this));
  has_tries_ = true;
  if (list) may_be_broken_ = true;
  tries_->list = list;
  tries_->is_logged = is_logged;
  tries_->server.emplace(config_, *context_);
  StreamInfo& info = tries_->info;
  info.server = &*tries_->server;
  info.id = context_->upstream.random.next();
  info.scheme = scheme_;
  info.is_grpc = is_grpc_;
  info.is_upgrade = is_upgrade_;
  info.is_websocket = is_websocket_;
  info.is_head = request.is_head;
  info.use(cluster_);
  info.attempts = 1;
  info.start_us = loop().nowMicros();
}

void Mirror::startTry(upstream::HttpPool& pool) {
  if (!has_tries_) return attempt_.start(pool, 0);
  MirrorTries& tries = *tries_;
  tries.info.host = &pool.host();
  http::RequestHead& head = context_->tried;
  restoreHead(head.headers);
  head.method = head_.method();
  head.path = head_.path();
  head.authority = head_.authority();
  // What filters and logs say of it.
  tries.info.touchUncommon().request.save(head.method, head.path, head.authority, head.headers);
  if (tries.is_logged) {
    tries.logs.begin(attempt_, pool.host());
    const net::Millis due = tries.logs.due();
    if (due != net::kNever) loop().timers().armBy(this, due);
  }
  if (tries.list) {
    tries.filters.begin(attempt_, tries.list->set(), nullptr);
    if (!tries.filters.onHostChosen(head)) return;
  }
  attempt_.start(pool, 0);
  if (!tries.list || !attempt_.isActive()) return;
  // What has come of it by now, where its host was looked up first.
  SlabChain body = std::move(body_);
  const http::SavedHead trailers = std::move(trailers_);
  tries.filters.onKept(head, has_body_, request_complete_, body, trailers);
  // Before what is sent is cleared; and where more is to come, nobody else does.
  if (http::ClientStream* const to = attempt_.stream()) to->flush();
  if (!body.empty()) body.clear(loop().slabs());
}

void Mirror::endTries() {
  MirrorTries& tries = *tries_;
  tries.filters.end();
  if (tries.is_logged) tries.logs.endAll();
  tries.info.clear();
  tries.server.reset();
  tries.list = nullptr;
  tries.is_logged = tries.is_behind = false;
  tries.pauses = 0;
  tries.kept.clear();
  has_tries_ = false;
}

bool Mirror::passesFilters() const { return has_tries_ && tries_->filters.attempt() != nullptr; }

// Whoever fails, or is answered early, waits for nothing of what it kept.
bool Mirror::areTriesBehind() const {
  return attempt_.isActive() && (tries_->is_behind || tries_->pauses > 0);
}

void Mirror::noteConnection(upstream::PooledConnection& connection) {
  StreamInfo& info = tries_->info;
  info.host = &attempt_.host();
  info.upstream_protocol = connection.codec().protocol();
  StreamInfo::Uncommon& uncommon = info.touchUncommon();
  uncommon.upstream_local = connection.localAddress();
  uncommon.upstream_tls = connection.codec().connection().tls();
  if (TryLogs* const logs = tryLogs()) logs->onReady(attempt_);
}

StreamInfo& Mirror::tryInfo() { return tries_->info; }

TryLogs* Mirror::tryLogs() {
  if (!has_tries_ || !tries_->is_logged) return nullptr;
  tries_->info.upstream_bytes = bytes_;
  return &tries_->logs;
}

std::shared_ptr<void>& Mirror::keptByConnection(uint64_t number) {
  for (auto& [its_number, thing] : tries_->kept) {
    if (its_number == number) return thing;
  }
  return tries_->kept.emplace_back(number, nullptr).second;
}

void Mirror::onTryHead(const http::RequestHead& head, http::SavedHead&) {
  tries_->info.touchUncommon().request.save(head.method, head.path, head.authority, head.headers);
}

void Mirror::onTryBehind() { tries_->is_behind = true; }

void Mirror::onTrySent() {
  tries_->is_behind = false;
  holdUpNoLonger();
}

void Mirror::pauseReading() { ++tries_->pauses; }

void Mirror::resumeReading() {
  if (--tries_->pauses == 0) holdUpNoLonger();
}

void Mirror::pauseAnswer() {
  if (http::ClientStream* const from = attempt_.stream()) from->pauseReading();
}

void Mirror::resumeAnswer() {
  if (http::ClientStream* const from = attempt_.stream()) from->resumeReading();
}

void Mirror::replace(const filters::LocalReply& reply, std::string_view) { endWith(reply.status); }

void Mirror::answerTooLarge(Excess of, std::string_view) {
  endWith(of == Excess::Answer ? 500 : 413);
}

}  // namespace fairlead::proxy
