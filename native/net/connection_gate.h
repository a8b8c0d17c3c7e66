// What decides of a new connection before anything is made of it: the network filters that limit
// how many there are, or how many come. Shared by all workers; asked on any of their threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "net/timer_wheel.h"

namespace fairlead::net {

class ConnectionGate {
 public:
  struct Verdict {
    bool passes = true;
    // What does not pass ends after so long.
    Millis delay_ms = 0;
    // More came than may.
    bool is_rate_limited = false;
    // As access logs say why it was closed: static text.
    std::string_view reason = {};
  };
  virtual ~ConnectionGate() = default;
  virtual Verdict admit(unsigned worker, uint64_t now_us) = 0;
  // A connection that passed here has ended, or was refused by another gate.
  virtual void leave(unsigned worker) {}
};

// Of a filter chain, in their order.
using ConnectionGates = std::vector<std::shared_ptr<ConnectionGate>>;

// What a connection has passed: they hear of its end. Owned by the connection.
class GatePass {
 public:
  GatePass(std::shared_ptr<const ConnectionGates> gates, unsigned worker)
      : gates_(std::move(gates)), worker_(worker) {}
  GatePass(const GatePass&) = delete;
  GatePass& operator=(const GatePass&) = delete;
  ~GatePass() {
    for (size_t i = 0; i < passed_; ++i) (*gates_)[i]->leave(worker_);
  }

  // Once. The verdict of the first that refuses it, or that it may pass.
  ConnectionGate::Verdict askAll(uint64_t now_us) {
    for (const auto& gate : *gates_) {
      const ConnectionGate::Verdict verdict = gate->admit(worker_, now_us);
      if (!verdict.passes) return verdict;
      ++passed_;
    }
    return {};
  }

 private:
  const std::shared_ptr<const ConnectionGates> gates_;
  const unsigned worker_;
  size_t passed_ = 0;
};

}  // namespace fairlead::net
