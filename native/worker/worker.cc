#include "worker/worker.h"

#include "filters/network/direct_response.h"
#include "filters/network/echo.h"
#include "proxy/http_server.h"
#include "tcp/tcp_proxy.h"
#include "worker/listener_log.h"
#include "worker/time_slice.h"

namespace fairlead::worker {

namespace {

// How long the end waits for answers that are under way: no more than what nobody notices.
constexpr net::Millis kLastAnswersMs = 250;
constexpr int kLookMs = 5;
// How long requests may wait for what an update changes, and after how many steps the clock is
// read.
constexpr uint64_t kTakeUpMicros = 250;
constexpr size_t kStepsBetweenLooks = 16;

}  // namespace

Worker::Worker(unsigned index, access_log::LogFiles& logs, const Intervals& intervals)
    : index_(index),
      clusters_(upstream::UpstreamContext{loop_, scratch_, pipes_, random_, index}),
      context_(clusters_),
      flush_(loop_, intervals.log_flush_ms, [&logs] { logs.flush(); }),
      trim_(loop_, intervals.trim_ms, [this] {
        pipes_.trim();
        context_.streams.trim();
      }) {}

Worker::~Worker() {
  beginStop();
  join();
}

int Worker::start() {
  return thread_.start([this] { run(); });
}

void Worker::run() {
  const std::string name = "wrk:worker_" + std::to_string(index_);
  ::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str());
  askForShortTurns();
  // One for all: the files' lines come from every worker.
  if (index_ == 0) flush_.arm();
  trim_.arm();
  loop_.run();
  flush_.disarm();
  trim_.disarm();
  finishRequests();
  listeners_.clear();
  context_.mirrors.endActive();
  clusters_.clear();
  // Frees what ended just now.
  loop_.turn(0);
  loop_.closeInbox();
}

void Worker::finishRequests() {
  for (const auto& listener : listeners_) listener->stop();
  const net::Millis end = loop_.now() + kLastAnswersMs;
  for (;;) {
    bool is_busy = false;
    for (const auto& listener : listeners_) {
      listener->abortQuietConnections();
      is_busy = is_busy || listener->hasConnections();
    }
    if (!is_busy || loop_.now() >= end) return;
    loop_.turn(kLookMs);
  }
}

void Worker::beginStop() {
  post([this] { loop_.stop(); });
}

// ---- updates ----

void Worker::post(std::function<void()> task) {
  loop_.post([this, task = std::move(task)]() mutable { enqueue({nullptr, std::move(task)}); });
}

void Worker::take(std::shared_ptr<const Delta> delta) {
  loop_.post([this, delta = std::move(delta)]() mutable { enqueue({std::move(delta), nullptr}); });
}

void Worker::enqueue(Pending pending) {
  pending_.push_back(std::move(pending));
  // Else it goes on in the next turn.
  if (!Deferred::isLinked()) takeUp();
}

void Worker::takeUp() {
  const uint64_t end_us = net::Loop::readClockMicros() + kTakeUpMicros;
  while (!pending_.empty()) {
    Pending& next = pending_.front();
    if (next.task) {
      const std::function<void()> task = std::move(next.task);
      pending_.pop_front();
      task();
      continue;
    }
    while (next.steps_done < next.delta->size()) {
      std::visit([this](const auto& step) { apply(step); }, (*next.delta)[next.steps_done]);
      if (++next.steps_done % kStepsBetweenLooks > 0) continue;
      if (net::Loop::readClockMicros() >= end_us) return loop_.yield(this);
    }
    pending_.pop_front();
  }
}

void Worker::apply(const ClusterChange& change) {
  clusters_.set(change.id, change.cluster, change.hosts);
}

void Worker::apply(const RouteChange& change) { context_.routes.set(change.slot, change.table); }

std::unique_ptr<net::ConnectionFactory> Worker::makeFactory(const FilterChainPlan& chain) {
  if (const auto* http = std::get_if<std::shared_ptr<const proxy::HttpConfig>>(&chain)) {
    return std::make_unique<proxy::HttpServer>(*http, context_);
  }
  if (const auto* relay = std::get_if<std::shared_ptr<const tcp::TcpProxyConfig>>(&chain)) {
    return std::make_unique<tcp::TcpProxy>(*relay, clusters_);
  }
  if (const auto* direct = std::get_if<DirectResponsePlan>(&chain)) {
    return std::make_unique<filters::DirectResponse>(loop_, batch_, direct->body);
  }
  if (std::holds_alternative<EchoPlan>(chain)) {
    constexpr uint32_t kBufferLimit = 1024 * 1024;
    return std::make_unique<filters::Echo>(loop_, batch_, kBufferLimit);
  }
  return nullptr;
}

void Worker::addListener(const std::shared_ptr<const ListenerPlan>& plan,
                         std::vector<net::ListenSocket> sockets) {
  std::vector<std::unique_ptr<net::ConnectionFactory>> factories;
  for (const FilterChainPlan& chain : plan->chains) factories.push_back(makeFactory(chain));
  std::unique_ptr<net::ConnectionLog> log;
  if (!plan->access_logs.empty()) {
    log = std::make_unique<ListenerLog>(plan->access_logs, index_, random_);
  }
  auto listener = std::make_unique<net::Listener>(loop_, plan->config, std::move(sockets), index_,
                                                  std::move(factories), std::move(log),
                                                  static_cast<net::ListenerDirectory*>(this));
  listener->start();
  listeners_.push_back(std::move(listener));
}

net::Listener* Worker::findListener(const net::Address& local) {
  net::Listener* of_port = nullptr;
  for (const auto& listener : listeners_) {
    const net::Address& address = listener->config().address;
    if (address == local) return listener.get();
    const bool takes_all = address.isAny() && address.family() == local.family();
    if (takes_all && address.port() == local.port()) of_port = listener.get();
  }
  return of_port;
}

void Worker::stopListener(const std::string& name) {
  for (const auto& listener : listeners_) {
    if (listener->config().plan.name != name) continue;
    listener->acceptWaiting();
    listener->stop();
  }
}

void Worker::pauseListener(const std::string& name) {
  for (const auto& listener : listeners_) {
    if (listener->config().plan.name == name) listener->pause();
  }
}

void Worker::resumeListener(const std::string& name,
                            const std::vector<net::ListenSocket>& sockets) {
  for (const auto& listener : listeners_) {
    if (listener->config().plan.name == name) listener->resume(sockets);
  }
}

}  // namespace fairlead::worker
