#include "filters/jwt/key_store.h"

#include <utility>

namespace fairlead::filters {

void JwtKeyStore::wait(unsigned worker, Waiter* waiter) {
  OfWorker& own = workers_[worker];
  own.waiting.push_back(waiter);
  if (std::exchange(own.has_asked, true) || !asks_) return;
  asks_->ask(ControlAsks::What::Jwks, id_, {});
}

void JwtKeyStore::forget(unsigned worker, Waiter* waiter) {
  std::erase(workers_[worker].waiting, waiter);
}

// Whoever hears of it may end others that wait.
void JwtKeyStore::deliver(unsigned worker, Keys keys, net::Millis now) {
  OfWorker& own = workers_[worker];
  const bool is_fetched = keys != nullptr;
  if (is_fetched) {
    own.keys = std::move(keys);
    own.good_until = now + lives_ms_;
  }
  own.has_asked = false;
  // Those that come meanwhile wait for the next one.
  size_t count = own.waiting.size();
  while (count-- > 0 && !own.waiting.empty()) {
    Waiter* const waiter = own.waiting.front();
    own.waiting.erase(own.waiting.begin());
    waiter->onKeys(is_fetched);
  }
}

}  // namespace fairlead::filters
