#include "addon/proxy_cpu_profile.h"

#include <algorithm>
#include <span>
#include <vector>

namespace fairlead::addon {

Napi::Value ProxyCpuProfile::startCpuProfile(const Napi::CallbackInfo& info) {
  if (!cpu_profile_) cpu_profile_ = data_plane_->profileCpu();
  return Napi::Boolean::New(info.Env(), cpu_profile_ != nullptr);
}

Napi::Value ProxyCpuProfile::readCpuProfile(const Napi::CallbackInfo& info) {
  std::vector<double> words;
  if (cpu_profile_) {
    cpu_profile_->drain([&](unsigned worker, std::span<const uintptr_t> addresses) {
      words.push_back(worker);
      words.push_back(static_cast<double>(addresses.size()));
      words.insert(words.end(), addresses.begin(), addresses.end());
    });
  }
  Napi::Float64Array result = Napi::Float64Array::New(info.Env(), words.size());
  std::copy(words.begin(), words.end(), result.Data());
  return result;
}

Napi::Value ProxyCpuProfile::stopCpuProfile(const Napi::CallbackInfo& info) {
  if (cpu_profile_) cpu_profile_->stop();
  const Napi::Value rest = readCpuProfile(info);
  cpu_profile_.reset();
  return rest;
}

}  // namespace fairlead::addon
