// The way of names that are to be looked up from the workers to Node. Who asks waits, and of those
// there are only so many. Shared by the addon's object and the data plane.
#pragma once

#include <napi.h>

#include <memory>
#include <mutex>
#include <string>

#include "upstream/name_cache.h"

namespace fairlead::addon {

class NamePipe final : public upstream::NameSink, public std::enable_shared_from_this<NamePipe> {
 public:
  // From here on `callback` gets (cache, name). Once; the control thread.
  void open(Napi::Env env, const Napi::Function& callback);
  // The control thread. Later names are thrown away.
  void close();

  void onName(const std::string& cache, const std::string& name) override;

 private:
  struct Name {
    std::string cache;
    std::string name;
  };

  static void deliver(Napi::Env env, Napi::Function callback, Name* name);

  // Held while a worker hands a name over, so that the pipe is not closed under it.
  std::mutex mutex_;
  Napi::ThreadSafeFunction function_;
  bool is_open_ = false;
};

}  // namespace fairlead::addon
