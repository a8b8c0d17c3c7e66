#include "addon/proxy_hot_restart.h"

#include <chrono>
#include <future>
#include <set>
#include <string>
#include <vector>

#include "addon/edge.h"
#include "addon/proxy_lifecycle.h"

namespace fairlead::addon {

namespace {

// Waits for the workers off the control thread.
class HandOver final : public Napi::AsyncWorker {
 public:
  HandOver(const Napi::Env& env, std::future<void> done)
      : AsyncWorker(env), promise_(Napi::Promise::Deferred::New(env)), done_(std::move(done)) {}
  Napi::Promise promise() const { return promise_.Promise(); }

 private:
  // Workers that are stuck must not hold up a successor that serves already.
  static constexpr std::chrono::seconds kPatience{1};

  void Execute() override { done_.wait_for(kPatience); }
  void OnOK() override { promise_.Resolve(Env().Undefined()); }

  Napi::Promise::Deferred promise_;
  std::future<void> done_;
};

}  // namespace

Napi::Value ProxyHotRestart::openConnections(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(data_plane_->openConnections()));
}

void ProxyHotRestart::inherit(const Napi::CallbackInfo& info) {
  const Napi::Array list = info[0].As<Napi::Array>();
  for (uint32_t i = 0; i < list.Length(); ++i) {
    const Napi::Object item = list.Get(i).As<Napi::Object>();
    auto socket =
        std::make_shared<const net::FileDescriptor>(item.Get("fd").ToNumber().Int32Value());
    data_plane_->listenSockets().inherit({item.Get("listener").ToString().Utf8Value(),
                                          item.Get("address").ToString().Utf8Value(),
                                          item.Get("anyPort").ToBoolean(), std::move(socket)});
  }
}

Napi::Value ProxyHotRestart::endInheritance(const Napi::CallbackInfo& info) {
  data_plane_->stats().markImportedSent();
  const std::set<std::string> taken = data_plane_->listenSockets().endInheritance();
  const Napi::Array result = Napi::Array::New(info.Env(), taken.size());
  uint32_t i = 0;
  for (const std::string& address : taken) result.Set(i++, address);
  return result;
}

void ProxyHotRestart::importStats(const Napi::CallbackInfo& info) {
  const Result<void> done = hot_restart::importStats(data_plane_->stats(), bytesOf(info[0]));
  if (!done) fail(info.Env(), done.error().message);
}

void ProxyHotRestart::endImports(const Napi::CallbackInfo&) { data_plane_->stats().endImports(); }

Napi::Value ProxyHotRestart::listenSockets(const Napi::CallbackInfo& info) {
  const std::vector<worker::PassedSocket> sockets = data_plane_->listenSockets().all();
  const Napi::Array result = Napi::Array::New(info.Env(), sockets.size());
  for (uint32_t i = 0; i < sockets.size(); ++i) {
    const Napi::Object item = Napi::Object::New(info.Env());
    item.Set("listener", sockets[i].listener);
    item.Set("address", sockets[i].address);
    item.Set("anyPort", sockets[i].any_port);
    item.Set("fd", sockets[i].socket->get());
    result.Set(i, item);
  }
  return result;
}

Napi::Value ProxyHotRestart::handOver(const Napi::CallbackInfo& info) {
  const Napi::Array list = info[0].As<Napi::Array>();
  std::set<std::string> taken;
  for (uint32_t i = 0; i < list.Length(); ++i) taken.insert(list.Get(i).ToString().Utf8Value());
  auto* work = new HandOver(info.Env(), data_plane_->handOver(taken));
  const Napi::Promise promise = work->promise();
  work->Queue();
  return promise;
}

Napi::Value ProxyHotRestart::takeBack(const Napi::CallbackInfo& info) {
  return errorList(info.Env(), data_plane_->takeBack());
}

Napi::Value ProxyHotRestart::exportStats(const Napi::CallbackInfo& info) {
  if (!export_) export_ = std::make_unique<hot_restart::StatsExport>(data_plane_->stats());
  data_plane_->refreshStats();
  std::string batch;
  const bool more = export_->next(&batch, info[0].ToNumber().Uint32Value());
  const Napi::Object result = Napi::Object::New(info.Env());
  result.Set("batch", Napi::Buffer<char>::Copy(info.Env(), batch.data(), batch.size()));
  result.Set("more", more);
  return result;
}

void ProxyHotRestart::beginExport(const Napi::CallbackInfo& info) {
  if (!info[0].ToBoolean()) export_.reset();
  if (export_) export_->changeListener();
}

}  // namespace fairlead::addon
