#include "format/live_text.h"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace fairlead::format {

struct LiveText::Registry {
  Mutex mutex;
  std::map<std::string, std::weak_ptr<LiveText>, std::less<>> texts;
  // Indices that were given back, and the first that was never given.
  std::vector<size_t> free;
  size_t next = 0;
  std::atomic<uint64_t> last_version = 0;
};

LiveText::Registry& LiveText::registry() {
  // Threads may outlive what the process destroys as it ends.
  static Registry* const registry = new Registry();
  return *registry;
}

std::shared_ptr<LiveText> LiveText::of(const plan::LiveText& plan) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::weak_ptr<LiveText>& known = all.texts[plan.name];
  if (auto text = known.lock()) return text;
  std::shared_ptr<LiveText> made(new LiveText(plan));
  if (all.free.empty()) {
    made->index_ = all.next++;
  } else {
    made->index_ = all.free.back();
    all.free.pop_back();
  }
  known = made;
  return made;
}

bool LiveText::replace(const plan::LiveText& plan) {
  Registry& all = registry();
  std::shared_ptr<LiveText> text;
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.texts.find(plan.name);
    if (found != all.texts.end()) text = found->second.lock();
  }
  // Outside of the lock, which its end takes.
  if (!text) return false;
  text->store(plan.value);
  return true;
}

LiveText::LiveText(const plan::LiveText& plan) : name_(plan.name) { store(plan.value); }

LiveText::~LiveText() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.free.push_back(index_);
  const auto found = all.texts.find(name_);
  // Another one may have its name already.
  if (found != all.texts.end() && found->second.expired()) all.texts.erase(found);
}

void LiveText::store(std::string_view value) {
  auto next = std::make_shared<const std::string>(value);
  const std::lock_guard lock(mutex_);
  value_ = std::move(next);
  version_.store(++registry().last_version, std::memory_order_release);
}

std::string_view LiveText::read() const {
  thread_local std::vector<Read> reads;
  if (reads.size() <= index_) reads.resize(index_ + 1);
  Read& own = reads[index_];
  if (own.version != version_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(mutex_);
    own = {version_.load(std::memory_order_relaxed), value_};
  }
  return *own.value;
}

}  // namespace fairlead::format
