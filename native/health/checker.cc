#include "health/checker.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_set>
#include <utility>

#include "health/http_check.h"
#include "health/tcp_check.h"

namespace fairlead::health {

namespace {

constexpr net::Millis kLongestWaitMs = 60'000;
// After each turn: a thread that each answer of a thousand hosts wakes does little but wake up.
constexpr useconds_t kPauseUs = 1000;

std::unique_ptr<Check> makeCheck(CheckContext& context,
                                 const std::shared_ptr<const CheckConfig>& config,
                                 const std::shared_ptr<upstream::Host>& host) {
  switch (config->plan().kind) {
    case plan::HealthCheck::Kind::Http:
      break;
    case plan::HealthCheck::Kind::Tcp:
      return std::make_unique<TcpCheck>(context, config, host);
    case plan::HealthCheck::Kind::Grpc:
      return std::make_unique<GrpcCheck>(context, config, host);
  }
  return std::make_unique<HttpCheck>(context, config, host);
}

}  // namespace

Checker::~Checker() {
  beginStop();
  awaitStop();
}

Result<void> Checker::check(std::shared_ptr<const CheckConfig> config, Hosts hosts) {
  if (const Result<void> started = start(); !started) return started;
  engine_->loop.post([engine = engine_.get(), config = std::move(config),
                      hosts = std::move(hosts)] { engine->check(config, hosts); });
  return {};
}

void Checker::remove(upstream::ClusterLife cluster) {
  if (!engine_) return;
  engine_->loop.post([engine = engine_.get(), cluster] { engine->remove(cluster); });
}

void Checker::beginRound(upstream::ClusterLife cluster, bool with_earlier) {
  if (engine_) {
    engine_->loop.post([engine = engine_.get(), cluster, with_earlier] {
      engine->beginRound(cluster, with_earlier);
    });
  } else {
    inbox_->post({.cluster = cluster, .host = {}, .ends_round = true});
  }
}

Result<void> Checker::ask(std::shared_ptr<const LoadConfig> config, Hosts hosts) {
  if (const Result<void> started = start(); !started) return started;
  engine_->loop.post([engine = engine_.get(), config = std::move(config),
                      hosts = std::move(hosts)] { engine->ask(config, hosts); });
  return {};
}

void Checker::stopAsking(uint32_t cluster) {
  if (!engine_) return;
  engine_->loop.post([engine = engine_.get(), cluster] { engine->stopAsking(cluster); });
}

void Checker::onSaidUnwell(upstream::ClusterLife cluster, std::weak_ptr<upstream::Host> host) {
  if (!engine_) return;
  engine_->loop.post([engine = engine_.get(), cluster, host = std::move(host)] {
    engine->onSaidUnwell(cluster, host);
  });
}

void Checker::beginStop() {
  if (!engine_) return;
  engine_->loop.post([engine = engine_.get()] { engine->is_stopping = true; });
}

void Checker::run(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (engine_) {
    engine_->loop.post(std::move(task));
  } else {
    task();
  }
}

Result<void> Checker::start() {
  if (engine_) return {};
  const std::lock_guard lock(mutex_);
  auto engine = std::make_unique<Engine>(*inbox_);
  int error = engine->loop.error();
  if (error == 0) error = thread_.start([engine = engine.get()] { engine->work(); });
  if (error != 0) {
    return Error{std::string("cannot start the thread of health checks: ") + std::strerror(error)};
  }
  engine_ = std::move(engine);
  return {};
}

void Checker::Engine::work() {
  ::pthread_setname_np(::pthread_self(), "health_checks");
  loop.useBatch(batch);
  while (!is_stopping) {
    loop.turn(static_cast<int>(loop.timers().untilNext(kLongestWaitMs)));
    ::usleep(kPauseUs);
  }
  for (const auto& [cluster, of_cluster] : clusters) of_cluster.config->round().forget();
  clusters.clear();
  questions.clear();
  // Frees what ended just now.
  loop.turn(0);
  loop.closeInbox();
}

void Checker::Engine::check(const std::shared_ptr<const CheckConfig>& config, const Hosts& hosts) {
  ClusterChecks& cluster = clusters[config->cluster().life()];
  // Goes behind its checks.
  const Hosts before = std::exchange(cluster.hosts, hosts);
  cluster.config = config;
  std::unordered_set<const upstream::Host*> wanted;
  for (const auto& host : hosts->hosts()) {
    if (!host->settings().is_not_checked) wanted.insert(host.get());
  }
  std::erase_if(cluster.checks,
                [&wanted](const auto& entry) { return !wanted.contains(entry.first); });
  for (const auto& host : hosts->hosts()) {
    if (!wanted.contains(host.get())) continue;
    std::unique_ptr<Check>& check = cluster.checks[host.get()];
    if (check) continue;
    check = makeCheck(context, config, host);
    check->start();
  }
}

void Checker::Engine::remove(upstream::ClusterLife cluster) {
  const auto found = clusters.find(cluster);
  if (found == clusters.end()) return;
  found->second.config->round().forget();
  clusters.erase(found);
  tellLeft();
}

void Checker::Engine::beginRound(upstream::ClusterLife cluster, bool with_earlier) {
  const auto found = clusters.find(cluster);
  const bool is_over = found == clusters.end() || found->second.config->round().begin(
                                                      found->second.checks.size(), with_earlier);
  if (is_over) context.inbox.post({.cluster = cluster, .host = {}, .ends_round = true});
}

// A change of nothing: the control thread looks what nobody holds any more.
void Checker::Engine::tellLeft() { context.inbox.post({}); }

void Checker::Engine::ask(const std::shared_ptr<const LoadConfig>& config, const Hosts& hosts) {
  ClusterQuestions& cluster = questions[config->cluster().id()];
  const Hosts before = std::exchange(cluster.hosts, hosts);
  if (cluster.config != config) cluster.sessions.clear();
  cluster.config = config;
  std::unordered_set<const upstream::Host*> wanted;
  for (const auto& host : hosts->hosts()) wanted.insert(host.get());
  std::erase_if(cluster.sessions,
                [&wanted](const auto& entry) { return !wanted.contains(entry.first); });
  for (const auto& host : hosts->hosts()) {
    std::unique_ptr<LoadSession>& session = cluster.sessions[host.get()];
    if (!session) session = std::make_unique<LoadSession>(context, config, host);
  }
  const auto active = std::ranges::count_if(
      cluster.sessions, [](const auto& entry) { return !entry.second->hasGivenUp(); });
  config->stats().set(stats::LoadQuestions::Gauge::ActiveSessions, static_cast<uint64_t>(active));
}

void Checker::Engine::stopAsking(uint32_t cluster) {
  const auto found = questions.find(cluster);
  if (found == questions.end()) return;
  found->second.config->stats().set(stats::LoadQuestions::Gauge::ActiveSessions, 0);
  questions.erase(found);
}

void Checker::Engine::onSaidUnwell(upstream::ClusterLife cluster,
                                   const std::weak_ptr<upstream::Host>& host) {
  const auto found = clusters.find(cluster);
  const std::shared_ptr<upstream::Host> alive = host.lock();
  if (found == clusters.end() || !alive) return;
  const auto check = found->second.checks.find(alive.get());
  if (check != found->second.checks.end()) check->second->onSaidUnwell();
}

}  // namespace fairlead::health
