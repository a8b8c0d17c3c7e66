// A worker's encoders or decoders of one configuration that are not in use: their memory is made
// once.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace fairlead::coding {

// `Coder`: an Encoder or a Decoder, of a `Config` that makes it.
template <typename Coder, typename Config>
class Pool {
 public:
  // Null: there is no memory for one.
  std::unique_ptr<Coder> take(const Config& config) {
    if (free_.empty()) return config.make();
    std::unique_ptr<Coder> coder = std::move(free_.back());
    free_.pop_back();
    return coder;
  }
  void give(std::unique_ptr<Coder> coder) {
    if (coder && free_.size() < kMaxFree && coder->reset()) free_.push_back(std::move(coder));
  }

 private:
  // As many as a worker has at work at once, mostly; each is of 30 KiB to a megabyte.
  static constexpr size_t kMaxFree = 16;
  std::vector<std::unique_ptr<Coder>> free_;
};

}  // namespace fairlead::coding
