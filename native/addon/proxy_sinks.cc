#include "addon/proxy_sinks.h"

#include <string>
#include <vector>

#include "addon/edge.h"
#include "addon/page_object.h"

namespace fairlead::addon {

namespace {

// {pieces, more}
Napi::Value piecesOf(const Napi::Env& env, const std::vector<std::string>& pieces, bool more) {
  const Napi::Array list = Napi::Array::New(env, pieces.size());
  for (uint32_t i = 0; i < pieces.size(); ++i) {
    list.Set(i, Napi::Buffer<char>::Copy(env, pieces[i].data(), pieces[i].size()));
  }
  const Napi::Object result = Napi::Object::New(env);
  result.Set("pieces", list);
  result.Set("more", more);
  return result;
}

}  // namespace

void ProxySinks::openFlush(const Napi::CallbackInfo& info) {
  data_plane_->refreshStats();
  sinks_->open(info[0].ToNumber().Int64Value());
}

Napi::Value ProxySinks::nextOfFlush(const Napi::CallbackInfo& info) {
  std::vector<std::string> pieces;
  const bool more = sinks_->next(&pieces);
  return piecesOf(info.Env(), pieces, more);
}

Napi::Value ProxySinks::takeSamples(const Napi::CallbackInfo& info) {
  std::vector<std::string> pieces;
  const bool more = sinks_->takeSamples(&pieces);
  return piecesOf(info.Env(), pieces, more);
}

Napi::Value ProxySinks::openHystrix(const Napi::CallbackInfo& info) {
  if (!hystrix_) return fail(info.Env(), "there is no hystrix sink");
  return PageObject::make(info.Env(), hystrix_->open(info[0].ToNumber().Int64Value()));
}

void ProxySinks::resetHystrix(const Napi::CallbackInfo&) {
  if (hystrix_) hystrix_->reset();
}

}  // namespace fairlead::addon
