#include "addon/proxy_lifecycle.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "addon/edge.h"
#include "net/connection_id.h"

namespace fairlead::addon {

namespace {

// Waits for the worker threads' end off the control thread, which goes on serving.
class Shutdown final : public Napi::AsyncWorker {
 public:
  Shutdown(const Napi::Env& env, std::shared_ptr<worker::DataPlane> data_plane,
           ProxyLifecycle::Pipes pipes, std::shared_ptr<ControlCall> health,
           std::shared_ptr<ControlTimer> timer, std::shared_ptr<ControlTurns> turns)
      : AsyncWorker(env),
        done_(Napi::Promise::Deferred::New(env)),
        data_plane_(std::move(data_plane)),
        pipes_(std::move(pipes)),
        health_(std::move(health)),
        timer_(std::move(timer)),
        turns_(std::move(turns)) {
    data_plane_->beginStop();
  }
  Napi::Promise promise() const { return done_.Promise(); }

 private:
  void Execute() override { data_plane_->awaitStop(); }
  void OnOK() override {
    data_plane_->endStop();
    pipes_.traces->close();
    pipes_.entries->close();
    pipes_.names->close();
    pipes_.asks->close();
    health_->close();
    timer_->close();
    turns_->close();
    data_plane_->listenSockets().closeAll();
    done_.Resolve(Env().Undefined());
  }

  Napi::Promise::Deferred done_;
  std::shared_ptr<worker::DataPlane> data_plane_;
  ProxyLifecycle::Pipes pipes_;
  std::shared_ptr<ControlCall> health_;
  std::shared_ptr<ControlTimer> timer_;
  std::shared_ptr<ControlTurns> turns_;
};

std::optional<worker::DrainScope> scopeOf(const Napi::CallbackInfo& info) {
  const std::string scope = info[0].ToString().Utf8Value();
  if (scope == "all") return worker::DrainScope::All;
  if (scope == "inbound") return worker::DrainScope::Inbound;
  fail(info.Env(), "the scope of a drain is 'all' or 'inbound'");
  return std::nullopt;
}

}  // namespace

Napi::Value errorList(const Napi::Env& env, const std::vector<worker::ApplyError>& errors) {
  const Napi::Array result = Napi::Array::New(env, errors.size());
  for (uint32_t i = 0; i < errors.size(); ++i) {
    const Napi::Object item = Napi::Object::New(env);
    item.Set("kind", errors[i].kind);
    item.Set("name", errors[i].name);
    item.Set("message", errors[i].message);
    result.Set(i, item);
  }
  return result;
}

Napi::Value ProxyLifecycle::apply(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsTypedArray()) return fail(env, "apply() takes the bytes of an update");
  const std::string_view bytes = bytesOf(info[0]);
  const Napi::Value errors = errorList(env, data_plane_->apply(bytes.data(), bytes.size()));
  timer_->wakeAt(data_plane_->healthDue());
  return errors;
}

void ProxyLifecycle::announceListener(const Napi::CallbackInfo& info) {
  data_plane_->announceListener(info[0].ToString().Utf8Value(), info[1].ToBoolean());
}

void ProxyLifecycle::takeAnnouncementBack(const Napi::CallbackInfo& info) {
  data_plane_->takeAnnouncementBack(info[0].ToString().Utf8Value(), info[1].ToBoolean());
}

Napi::Value ProxyLifecycle::listeners(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto& bound = data_plane_->listeners();
  const Napi::Array result = Napi::Array::New(env, bound.size());
  for (uint32_t i = 0; i < bound.size(); ++i) {
    const Napi::Object item = Napi::Object::New(env);
    item.Set("name", bound[i].name);
    item.Set("statName", bound[i].stat_name);
    item.Set("address", bound[i].address.ip());
    item.Set("port", bound[i].address.port());
    if (bound[i].address.isInternal()) {
      item.Set("internalListener", std::string(bound[i].address.internalListener()));
    }
    if (const auto& more = bound[i].more_addresses; !more.empty()) {
      const Napi::Array others = Napi::Array::New(env, more.size());
      for (uint32_t j = 0; j < more.size(); ++j) {
        const Napi::Object other = Napi::Object::New(env);
        other.Set("address", more[j].ip());
        other.Set("port", more[j].port());
        others.Set(j, other);
      }
      item.Set("moreAddresses", others);
    }
    result.Set(i, item);
  }
  return result;
}

Napi::Value ProxyLifecycle::start(const Napi::CallbackInfo& info) {
  return errorList(info.Env(), data_plane_->start());
}

void ProxyLifecycle::startDrain(const Napi::CallbackInfo& info) {
  const std::optional<worker::DrainScope> scope = scopeOf(info);
  if (!scope) return;
  const bool immediate = info[2].ToString().Utf8Value() == "immediate";
  const auto strategy =
      immediate ? worker::DrainStrategy::Immediate : worker::DrainStrategy::Gradual;
  data_plane_->startDrain(*scope, worker::drainRamp(info[1].ToNumber().Uint32Value(), strategy));
}

void ProxyLifecycle::cancelDrain(const Napi::CallbackInfo&) { data_plane_->cancelDrain(); }

void ProxyLifecycle::stopListening(const Napi::CallbackInfo& info) {
  if (const auto scope = scopeOf(info)) data_plane_->stopListening(*scope);
}

void ProxyLifecycle::openHealth(Napi::Env env) {
  health_->open(env, [plane = std::weak_ptr(data_plane_), waiting = waiting_, rounds = rounds_,
                      timer = timer_](Napi::Env env) {
    const Napi::HandleScope scope(env);
    const std::shared_ptr<worker::DataPlane> alive = plane.lock();
    if (!alive) return;
    alive->takeHealth();
    timer->wakeAt(alive->healthDue());
    resolveEnded(env, *alive, *rounds);
    if (!waiting->empty() && !alive->awaitsChecks()) resolveAll(env, *waiting);
  });
}

void ProxyLifecycle::resolveAll(Napi::Env env, Waiting& waiting) {
  for (const Napi::Promise::Deferred& one : std::exchange(waiting, {})) {
    one.Resolve(env.Undefined());
  }
}

Napi::Value ProxyLifecycle::awaitChecks(const Napi::CallbackInfo& info) {
  const auto done = Napi::Promise::Deferred::New(info.Env());
  waiting_->push_back(done);
  data_plane_->takeHealth();
  if (!data_plane_->awaitsChecks()) resolveAll(info.Env(), *waiting_);
  return done.Promise();
}

void ProxyLifecycle::resolveEnded(Napi::Env env, const worker::DataPlane& plane, Rounds& rounds) {
  std::erase_if(rounds, [&](const auto& round) {
    if (plane.awaitsRound(round.first)) return false;
    round.second.Resolve(env.Undefined());
    return true;
  });
}

Napi::Value ProxyLifecycle::awaitRound(const Napi::CallbackInfo& info) {
  const auto done = Napi::Promise::Deferred::New(info.Env());
  const std::string cluster = info[0].ToString().Utf8Value();
  data_plane_->beginRound(cluster, info[1].ToBoolean());
  rounds_->emplace_back(cluster, done);
  resolveEnded(info.Env(), *data_plane_, *rounds_);
  return done.Promise();
}

void ProxyLifecycle::setHealthCheckFailed(const Napi::CallbackInfo& info) {
  data_plane_->setHealthCheckFailed(info[0].ToBoolean());
}

void ProxyLifecycle::reopenLogs(const Napi::CallbackInfo&) { data_plane_->reopenLogs(); }

void ProxyLifecycle::logAdminRequest(const Napi::CallbackInfo& info) {
  const std::string_view bytes = info[0].IsTypedArray() ? bytesOf(info[0]) : std::string_view();
  const auto request = plan::readAdminRequest(bytes.data(), bytes.size());
  if (request) {
    data_plane_->adminLog().write(request.value());
  } else {
    fail(info.Env(), request.error().message);
  }
}

Napi::Value ProxyLifecycle::addConnection(const Napi::CallbackInfo& info) {
  const bool is_exempt = info[0].ToBoolean();
  // Connections of the admin server are numbered with all others.
  net::takeConnectionId();
  net::AllConnections& all = data_plane_->allConnections();
  if (!all.countsExempt()) return Napi::Boolean::New(info.Env(), true);
  const bool may = is_exempt || !all.areTooMany();
  if (may) all.add();
  return Napi::Boolean::New(info.Env(), may);
}

void ProxyLifecycle::removeConnection(const Napi::CallbackInfo&) {
  net::AllConnections& all = data_plane_->allConnections();
  if (all.countsExempt()) all.remove();
}

void ProxyLifecycle::onTrace(const Napi::CallbackInfo& info) {
  if (!info[0].IsFunction()) {
    fail(info.Env(), "onTrace() takes a function");
    return;
  }
  pipes_.traces->open(info.Env(), info[0].As<Napi::Function>());
}

void ProxyLifecycle::onLogEntries(const Napi::CallbackInfo& info) {
  if (!info[0].IsFunction()) {
    fail(info.Env(), "onLogEntries() takes a function");
    return;
  }
  pipes_.entries->open(info.Env(), info[0].As<Napi::Function>());
}

void ProxyLifecycle::flushLogService(const Napi::CallbackInfo& info) {
  data_plane_->flushServiceLog(info[0].ToNumber().Uint32Value());
}

void ProxyLifecycle::blockLogService(const Napi::CallbackInfo& info) {
  data_plane_->blockServiceLog(info[0].ToNumber().Uint32Value(), info[1].ToBoolean().Value());
}

void ProxyLifecycle::onName(const Napi::CallbackInfo& info) {
  if (!info[0].IsFunction()) {
    fail(info.Env(), "onName() takes a function");
    return;
  }
  pipes_.names->open(info.Env(), info[0].As<Napi::Function>());
}

Napi::Value ProxyLifecycle::nameAge(const Napi::CallbackInfo& info) {
  const uint64_t age_ms =
      data_plane_->nameAgeMs(info[0].ToString().Utf8Value(), info[1].ToString().Utf8Value());
  return Napi::Number::New(info.Env(), static_cast<double>(age_ms));
}

void ProxyLifecycle::onAsk(const Napi::CallbackInfo& info) {
  if (!info[0].IsFunction()) {
    fail(info.Env(), "onAsk() takes a function");
    return;
  }
  pipes_.asks->open(info.Env(), info[0].As<Napi::Function>());
}

Napi::Value ProxyLifecycle::shutdown(const Napi::CallbackInfo& info) {
  auto* work = new Shutdown(info.Env(), data_plane_, pipes_, health_, timer_, turns_);
  const Napi::Promise promise = work->promise();
  resolveAll(info.Env(), *waiting_);
  for (const auto& [cluster, done] : std::exchange(*rounds_, {})) {
    done.Resolve(info.Env().Undefined());
  }
  work->Queue();
  return promise;
}

}  // namespace fairlead::addon
