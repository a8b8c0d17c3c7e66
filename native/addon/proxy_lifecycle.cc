#include "addon/proxy_lifecycle.h"

#include <optional>
#include <string>
#include <string_view>

#include "addon/edge.h"

namespace fairlead::addon {

namespace {

// Waits for the worker threads' end off the control thread, which goes on serving.
class Shutdown final : public Napi::AsyncWorker {
 public:
  Shutdown(const Napi::Env& env, std::shared_ptr<worker::DataPlane> data_plane,
           std::shared_ptr<TracePipe> traces)
      : AsyncWorker(env),
        done_(Napi::Promise::Deferred::New(env)),
        data_plane_(std::move(data_plane)),
        traces_(std::move(traces)) {
    data_plane_->beginStop();
  }
  Napi::Promise promise() const { return done_.Promise(); }

 private:
  void Execute() override { data_plane_->awaitStop(); }
  void OnOK() override {
    data_plane_->endStop();
    traces_->close();
    data_plane_->listenSockets().closeAll();
    done_.Resolve(Env().Undefined());
  }

  Napi::Promise::Deferred done_;
  std::shared_ptr<worker::DataPlane> data_plane_;
  std::shared_ptr<TracePipe> traces_;
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
  return errorList(env, data_plane_->apply(bytes.data(), bytes.size()));
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
  const bool may = is_exempt || !data_plane_->allConnections().areTooMany();
  if (may) data_plane_->allConnections().add();
  return Napi::Boolean::New(info.Env(), may);
}

void ProxyLifecycle::removeConnection(const Napi::CallbackInfo&) {
  data_plane_->allConnections().remove();
}

void ProxyLifecycle::onTrace(const Napi::CallbackInfo& info) {
  if (!info[0].IsFunction()) {
    fail(info.Env(), "onTrace() takes a function");
    return;
  }
  traces_->open(info.Env(), info[0].As<Napi::Function>());
}

Napi::Value ProxyLifecycle::shutdown(const Napi::CallbackInfo& info) {
  auto* work = new Shutdown(info.Env(), data_plane_, traces_);
  const Napi::Promise promise = work->promise();
  work->Queue();
  return promise;
}

}  // namespace fairlead::addon
