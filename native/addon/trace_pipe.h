// The way of what taps record, or logs gather for services, from the workers to Node. Bounded: what
// nobody takes in time is thrown away, never waited for. Shared by the addon's object and the data
// plane.
#pragma once

#include <napi.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "access_log/entry_sink.h"
#include "filters/http/tap.h"

namespace fairlead::addon {

class TracePipe final : public filters::TapSink,
                        public access_log::EntrySink,
                        public std::enable_shared_from_this<TracePipe> {
 public:
  // From here on `callback` gets (tap, trace, bytes). Once; the control thread.
  void open(Napi::Env env, const Napi::Function& callback);
  // The control thread. Later traces are thrown away.
  void close();

  void onTrace(uint32_t tap, uint64_t trace, std::string bytes) override {
    give(tap, trace, std::move(bytes));
  }
  // As (service, count, entries).
  bool onEntries(uint32_t service, uint64_t count, std::string entries) override {
    return give(service, count, std::move(entries));
  }

 private:
  struct Trace {
    std::shared_ptr<TracePipe> pipe;
    uint32_t tap;
    uint64_t trace;
    std::string bytes;
  };
  static constexpr size_t kMaxWaitingBytes = 16 * 1024 * 1024;

  // False: it is thrown away.
  bool give(uint32_t of, uint64_t number, std::string bytes);
  static void deliver(Napi::Env env, Napi::Function callback, Trace* trace);

  // Held while a worker hands a trace over, so that the pipe is not closed under it.
  std::mutex mutex_;
  Napi::ThreadSafeFunction function_;
  bool is_open_ = false;
  std::atomic<size_t> waiting_bytes_{0};
};

}  // namespace fairlead::addon
