// A text that formats tell of and that changes while they do: what a file holds, a secret. Pieces
// of formats hold it, by its name the control thread reaches it. Any thread reads it: each keeps
// what it has read last, so that none waits for a lock but right after a change.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "plan/plan.gen.h"

namespace fairlead::format {

class LiveText {
 public:
  // The one of that name, or a new one, which has the plan's value at first.
  static std::shared_ptr<LiveText> of(const plan::LiveText& plan);
  // False: nobody has one of that name, or not any more.
  static bool replace(const plan::LiveText& plan);

  LiveText(const LiveText&) = delete;
  LiveText& operator=(const LiveText&) = delete;
  ~LiveText();

  // Good until this thread reads the next time.
  std::string_view read() const;

 private:
  struct Registry;
  // What a thread has read, by `index_`.
  struct Read {
    uint64_t version = 0;
    std::shared_ptr<const std::string> value;
  };

  explicit LiveText(const plan::LiveText& plan);
  static Registry& registry();
  void store(std::string_view value);

  const std::string name_;
  // Among all that there are; taken again by others later.
  size_t index_ = 0;
  mutable Mutex mutex_;
  std::shared_ptr<const std::string> value_;
  // Of all values of all texts no two have the same.
  std::atomic<uint64_t> version_ = 0;
};

}  // namespace fairlead::format
