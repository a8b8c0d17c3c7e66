// The micro-benchmarks' vocabulary: MICRO("what is measured") { for (auto _ : state) { … } }.
// main.cc repeats a body until its time is worth believing, and prints the best of several runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fairlead::micro {

// Counts the iterations of one run. What stands before the loop is set up once per run and is not
// measured; what is inside is.
class State {
 public:
  explicit State(uint64_t iterations) : iterations_(iterations) {}

  class Iterator {
   public:
    Iterator(State* state, uint64_t left) : state_(state), left_(left) {}
    // Destroyed without a use: `for (auto _ : state)` warns of nothing.
    struct [[maybe_unused]] Turn {};
    Turn operator*() const { return {}; }
    Iterator& operator++() {
      --left_;
      return *this;
    }
    bool operator!=(const Iterator&) {
      if (left_ > 0) return true;
      state_->stop();
      return false;
    }

   private:
    State* state_;
    uint64_t left_;
  };
  Iterator begin() {
    start();
    return {this, iterations_};
  }
  Iterator end() { return {this, 0}; }

  // Bytes that one iteration handles: adds a rate to the line.
  void setBytes(size_t bytes) { bytes_ = bytes; }
  size_t bytes() const { return bytes_; }
  uint64_t elapsedNanos() const { return elapsed_ns_; }

 private:
  void start();
  void stop();

  const uint64_t iterations_;
  uint64_t started_ns_ = 0;
  uint64_t elapsed_ns_ = 0;
  size_t bytes_ = 0;
};

// The compiler must take `value` as used, and memory as changed.
template <typename T>
inline void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

struct Benchmark {
  const char* name;
  void (*run)(State&);
};
std::vector<Benchmark>& benchmarks();

struct Register {
  Register(const char* name, void (*run)(State&)) { benchmarks().push_back({name, run}); }
};

}  // namespace fairlead::micro

#define MICRO_CONCAT2(a, b) a##b
#define MICRO_CONCAT(a, b) MICRO_CONCAT2(a, b)
#define MICRO(name)                                                            \
  static void MICRO_CONCAT(microBody, __LINE__)(::fairlead::micro::State&);    \
  static const ::fairlead::micro::Register MICRO_CONCAT(microEntry, __LINE__)( \
      name, &MICRO_CONCAT(microBody, __LINE__));                               \
  static void MICRO_CONCAT(microBody, __LINE__)(::fairlead::micro::State & state)
