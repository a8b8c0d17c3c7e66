// The way of what workers ask of the control plane to Node. Nothing is thrown away: askers see to
// it themselves that they do not ask twice. Shared by the addon's object and the data plane.
#pragma once

#include <napi.h>

#include <memory>
#include <mutex>
#include <string>

#include "filters/jwt/key_store.h"

namespace fairlead::addon {

class AskPipe final : public filters::ControlAsks, public std::enable_shared_from_this<AskPipe> {
 public:
  // From here on `callback` gets (what, id, bytes). Once; the control thread.
  void open(Napi::Env env, const Napi::Function& callback);
  // The control thread. What is asked later is lost.
  void close();

  void ask(What what, uint32_t id, std::string bytes) override;

 private:
  struct Asked {
    What what;
    uint32_t id;
    std::string bytes;
  };

  static void deliver(Napi::Env env, Napi::Function callback, Asked* asked);

  // Held while a worker asks, so that the pipe is not closed under it.
  std::mutex mutex_;
  Napi::ThreadSafeFunction function_;
  bool is_open_ = false;
};

}  // namespace fairlead::addon
