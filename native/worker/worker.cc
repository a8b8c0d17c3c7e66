#include "worker/worker.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "filters/network/direct_response.h"
#include "filters/network/echo.h"
#include "filters/network/gated_factory.h"
#include "filters/network/missing_filter.h"
#include "profile/stack_of_thread.h"
#include "proxy/http_server.h"
#include "tcp/tcp_proxy.h"
#include "worker/listener_log.h"

namespace fairlead::worker {

namespace {

// How long the end waits for answers that are under way: no more than what nobody notices.
constexpr net::Millis kLastAnswersMs = 250;
constexpr net::Millis kLookMs = 5;
// How long requests may wait for what an update changes, and after how many steps the clock is
// read.
constexpr uint64_t kTakeUpMicros = 250;
constexpr size_t kStepsBetweenLooks = 16;
// The same of a turn with a budget: events that are not taken stay where they are.
constexpr int kEventsBetweenLooks = 16;

}  // namespace

Worker::Worker(unsigned index, log_files::LogFiles& logs, const Intervals& intervals,
               std::function<void()> on_left)
    : index_(index),
      clusters_(upstream::UpstreamContext{loop_, scratch_, pipes_, random_, index, overload_,
                                          static_cast<net::InternalListeners*>(this),
                                          std::move(on_left)}),
      context_(clusters_),
      flush_(loop_, intervals.log_flush_ms, [&logs] { logs.flush(); }),
      trim_(loop_, intervals.trim_ms,
            [this] {
              pipes_.trim();
              context_.streams.trim();
              context_.calls.trim();
              http2_streams_.trim();
            }),
      look_(loop_, kLookMs, [] {}) {
  loop_.useBatch(batch_);
}

// ---- turns ----

void Worker::begin() {
  profile::answerWithStack();
  thread_id_ = static_cast<pid_t>(::syscall(SYS_gettid));
  // One for all: the files' lines come from every worker.
  if (index_ == 0) flush_.arm();
  trim_.arm();
}

bool Worker::turn(uint64_t budget_us) {
  const uint64_t end_us = net::Loop::readClockMicros() + budget_us;
  for (;;) {
    const int events = loop_.turn(0, kEventsBetweenLooks);
    if (is_stopping_ && !finish()) return false;
    if (events < kEventsBetweenLooks && !loop_.hasWork()) return true;
    if (net::Loop::readClockMicros() >= end_us) return true;
  }
}

net::Millis Worker::due() const {
  return loop_.hasWork() ? 0 : loop_.now() + loop_.timers().untilNext(kLongestWaitMs);
}

// ---- the end ----

void Worker::beginStop() {
  post([this] { is_stopping_ = true; });
}

bool Worker::finish() {
  if (finish_by_ == 0) beginFinish();
  if (hasLastRequests()) return true;
  look_.disarm();
  // Nobody connects from within to one that ends.
  std::exchange(listeners_, {}).clear();
  draining_.clear();
  context_.mirrors.endActive();
  context_.calls.endActive();
  clusters_.clear();
  // Frees what ended just now.
  loop_.turn(0);
  loop_.closeInbox();
  return false;
}

void Worker::tellDrain() {
  forEachListener([](net::Listener& listener) { listener.tellDrain(); });
}

void Worker::beginFinish() {
  finish_by_ = loop_.now() + kLastAnswersMs;
  flush_.disarm();
  trim_.disarm();
  look_.arm();
  forEachListener([](net::Listener& listener) { listener.stop(); });
}

bool Worker::hasLastRequests() {
  bool is_busy = false;
  forEachListener([&is_busy](net::Listener& listener) {
    listener.abortQuietConnections();
    is_busy = is_busy || listener.hasConnections();
  });
  return is_busy && loop_.now() < finish_by_;
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
    if (const auto& on_left = clusters_.context().on_left; clusters_.takeLeft() && on_left) {
      on_left();
    }
  }
}

void Worker::apply(const ClusterChange& change) {
  clusters_.set(change.id, change.cluster, change.hosts);
}

void Worker::apply(const HealthNews& news) { clusters_.dropUnwell(news.id); }

void Worker::apply(const RouteChange& change) { context_.routes.set(change.slot, change.table); }

// ---- listeners ----

std::unique_ptr<net::ConnectionFactory> Worker::makeFactory(const FilterChainPlan& chain) {
  if (const auto* missing = std::get_if<MissingPlan>(&chain.filter)) {
    return std::make_unique<filters::MissingFilter>(loop_, *missing->stats->shard(index_ + 1));
  }
  std::unique_ptr<net::ConnectionFactory> factory = makeFactory(chain.filter);
  if (!chain.gates || !factory) return factory;
  return std::make_unique<filters::GatedFactory>(loop_, chain.gates, index_, std::move(factory));
}

std::unique_ptr<net::ConnectionFactory> Worker::makeFactory(const FilterPlan& filter) {
  if (const auto* http = std::get_if<std::shared_ptr<const proxy::HttpConfig>>(&filter)) {
    return std::make_unique<proxy::HttpServer>(*http, context_);
  }
  if (const auto* relay = std::get_if<std::shared_ptr<const tcp::TcpProxyConfig>>(&filter)) {
    return std::make_unique<tcp::TcpProxy>(*relay, clusters_);
  }
  if (const auto* direct = std::get_if<DirectResponsePlan>(&filter)) {
    return std::make_unique<filters::DirectResponse>(loop_, batch_, direct->body, direct->transport,
                                                     index_, direct->chain_name);
  }
  if (const auto* echo = std::get_if<EchoPlan>(&filter)) {
    constexpr uint32_t kBufferLimit = 1024 * 1024;
    return std::make_unique<filters::Echo>(loop_, batch_, kBufferLimit, echo->transport, index_,
                                           echo->slow_timeout_ms, echo->chain_name);
  }
  return nullptr;
}

void Worker::addListener(const std::shared_ptr<const ListenerPlan>& plan,
                         const SharedChains& chains, std::vector<net::ListenSocket> sockets) {
  std::unique_ptr<net::ConnectionLog> log;
  if (!plan->access_logs.empty()) {
    log = std::make_unique<ListenerLog>(plan->access_logs, index_, random_);
  }
  auto listener = std::make_unique<net::Listener>(
      loop_, std::shared_ptr<const net::ListenerConfig>(plan, &plan->config), std::move(sockets),
      index_, std::move(log), static_cast<net::ListenerDirectory*>(this));
  setFilterChains(*listener, chains);
  if (!plan->config.plan.bypasses_overload) listener->follow(overload_, random_);
  listener->start();
  listeners_.push_back(std::move(listener));
}

void Worker::setFilterChains(net::Listener& listener, const SharedChains& chains) {
  listener.setChains(std::shared_ptr<const net::FilterChains>(chains, &chains->chains),
                     [&](size_t place) { return makeFactory(*chains->plans[place]); });
}

void Worker::setFilterChains(const ListenerPlan* plan, const SharedChains& chains) {
  if (net::Listener* listener = findListener(plan)) setFilterChains(*listener, chains);
}

void Worker::changeFilterChain(const ListenerPlan* plan,
                               const std::shared_ptr<const FilterChainPlan>& chain) {
  net::Listener* const listener = findListener(plan);
  if (listener) listener->changeChain(chain->id, makeFactory(*chain));
}

void Worker::endFilterChains(const std::vector<uint64_t>& ids) {
  forEachListener([&ids](net::Listener& listener) { listener.endChains(ids); });
}

void Worker::drainListener(const ListenerPlan* plan, bool leaves_queue) {
  const auto found =
      std::find_if(listeners_.begin(), listeners_.end(),
                   [plan](const auto& listener) { return &listener->config() == &plan->config; });
  if (found == listeners_.end()) return;
  if (!leaves_queue) (*found)->acceptWaiting();
  (*found)->stop();
  draining_.push_back(std::move(*found));
  listeners_.erase(found);
}

void Worker::endListener(const ListenerPlan* plan) {
  const auto found = std::find_if(draining_.begin(), draining_.end(), [plan](const auto& listener) {
    return &listener->config() == &plan->config;
  });
  if (found == draining_.end()) return;
  std::unique_ptr<net::Listener> listener = std::move(*found);
  draining_.erase(found);
  listener->abortConnections();
  // What its connections leave behind may still be of it until the turn ends.
  loop_.bury(std::move(listener));
}

void Worker::setOverload(const std::shared_ptr<const net::Overload::Update>& update) {
  overload_.set(update, index_);
  if (overload_.hasNewTimes()) loop_.timers().rescale();
  forEachListener([](net::Listener& listener) { listener.onOverloadChanged(); });
  overload_.shedHeavy([this](net::HeavyStreams* into) {
    forEachListener([into](net::Listener& listener) { listener.addStreams(into); });
  });
}

net::Listener* Worker::findListener(const ListenerPlan* plan) {
  for (const auto& listener : listeners_) {
    if (&listener->config() == &plan->config) return listener.get();
  }
  return nullptr;
}

net::Listener* Worker::findListener(const net::Address& local) {
  net::Listener* of_port = nullptr;
  for (const auto& listener : listeners_) {
    const net::ListenerConfig& config = listener->config();
    const auto takesAll = [&local](const net::Address& address) {
      return address.isAny() && address.family() == local.family() &&
             address.port() == local.port();
    };
    const auto& more = config.more_addresses;
    if (config.address == local || std::find(more.begin(), more.end(), local) != more.end()) {
      return listener.get();
    }
    if (takesAll(config.address) || std::any_of(more.begin(), more.end(), takesAll)) {
      of_port = listener.get();
    }
  }
  return of_port;
}

void Worker::handOver(unsigned worker, const net::ListenerConfig& listener,
                      net::AcceptedSocket socket) {
  Worker* const other = (*all_)[worker].get();
  // Tasks can be copied, sockets cannot.
  auto held = std::make_shared<net::AcceptedSocket>(std::move(socket));
  other->loop_.post(
      [other, listener = &listener, held] { other->takeBalanced(listener, std::move(*held)); });
}

void Worker::takeBalanced(const net::ListenerConfig* listener, net::AcceptedSocket socket) {
  for (const auto& one : listeners_) {
    if (&one->config() == listener) return one->takeBalanced(std::move(socket));
  }
  for (const auto& one : draining_) {
    if (&one->config() == listener) return one->takeBalanced(std::move(socket));
  }
}

net::FileDescriptor Worker::connect(const net::Address& to,
                                    std::shared_ptr<const format::PassedMetadata> metadata,
                                    const net::SharedStates* states) {
  for (const auto& listener : listeners_) {
    if (listener->config().address.internalListener() == to.internalListener()) {
      return listener->connect(to, std::move(metadata), states);
    }
  }
  errno = EINVAL;
  return {};
}

void Worker::stopListener(const ListenerPlan* plan) {
  net::Listener* const listener = findListener(plan);
  if (!listener) return;
  listener->acceptWaiting();
  listener->stop();
}

void Worker::pauseListener(const ListenerPlan* plan) {
  if (net::Listener* listener = findListener(plan)) listener->pause();
}

void Worker::resumeListener(const ListenerPlan* plan,
                            const std::vector<net::ListenSocket>& sockets) {
  if (net::Listener* listener = findListener(plan)) listener->resume(sockets);
}

}  // namespace fairlead::worker
