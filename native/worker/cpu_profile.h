// Samples what all workers spend their CPU time on, from its making to stop(). The control
// thread's.
#pragma once

#include <memory>
#include <vector>

#include "profile/thread_sampler.h"
#include "worker/worker.h"

namespace fairlead::worker {

class CpuProfile {
 public:
  // The workers must be running, and go on until stop().
  explicit CpuProfile(const std::vector<std::unique_ptr<Worker>>& workers);
  CpuProfile(const CpuProfile&) = delete;
  CpuProfile& operator=(const CpuProfile&) = delete;
  ~CpuProfile() { stop(); }

  void stop();

  // Calls visit(worker's index, addresses, inner first) for each sample since the previous call.
  template <typename Visit>
  void drain(Visit visit) {
    for (const Sampled& one : sampled_) {
      const unsigned index = one.worker->index();
      one.sampler->drain([&](std::span<const uintptr_t> addresses) { visit(index, addresses); });
    }
  }

 private:
  struct Sampled {
    Worker* worker;
    std::unique_ptr<profile::ThreadSampler> sampler;
  };
  std::vector<Sampled> sampled_;
  bool stopped_ = false;
};

}  // namespace fairlead::worker
