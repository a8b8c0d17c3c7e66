#include "worker/cpu_profile.h"

#include <latch>

namespace fairlead::worker {

CpuProfile::CpuProfile(const std::vector<std::unique_ptr<Worker>>& workers) {
  for (const auto& worker : workers) {
    auto sampler = std::make_unique<profile::ThreadSampler>();
    worker->post([sampler = sampler.get()] { sampler->start(); });
    sampled_.push_back({worker.get(), std::move(sampler)});
  }
}

void CpuProfile::stop() {
  if (stopped_) return;
  stopped_ = true;
  // No handler may run once the samplers are gone: each thread stops its own, within its next turn.
  std::latch done(static_cast<ptrdiff_t>(sampled_.size()));
  for (const Sampled& one : sampled_) {
    one.worker->post([sampler = one.sampler.get(), &done] {
      sampler->stop();
      done.count_down();
    });
  }
  done.wait();
}

}  // namespace fairlead::worker
