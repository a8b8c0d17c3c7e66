// The keys of one issuer as workers have them: from the configuration, or as the control plane
// fetches them. A worker that needs keys which are not there, or too old, asks for them, and what
// waits hears when they come or cannot. Held by its filter; known to the data plane by its number.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "filters/jwt/key_set.h"
#include "net/timer_wheel.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"
#include "stats/scopes.h"

namespace fairlead::filters {

// What workers ask of the control thread. Called on their threads; must not block.
class ControlAsks {
 public:
  enum class What : uint8_t { Jwks = 0 };
  virtual ~ControlAsks() = default;
  // `id`: whose; `bytes`: what is asked, and by whom.
  virtual void ask(What what, uint32_t id, std::string bytes) = 0;
};

class JwtKeyStore {
 public:
  using Keys = std::shared_ptr<const JwtKeySet>;

  // Told once, on the worker's thread, that a fetch is over.
  class Waiter {
   public:
    virtual void onKeys(bool is_fetched) = 0;

   protected:
    ~Waiter() = default;
  };

  JwtKeyStore(uint32_t id, uint64_t lives_ms, unsigned workers, std::shared_ptr<ControlAsks> asks,
              std::shared_ptr<stats::Block<stats::HttpJwtAuthn>> stats)
      : id_(id),
        lives_ms_(lives_ms),
        asks_(std::move(asks)),
        stats_(std::move(stats)),
        workers_(workers) {}

  uint32_t id() const { return id_; }
  // The worker's. Null: there are none, or they are too old.
  const JwtKeySet* keysOf(unsigned worker, net::Millis now) const {
    const OfWorker& own = workers_[worker];
    return own.keys && now < own.good_until ? own.keys.get() : nullptr;
  }
  // The same, however old.
  const JwtKeySet* latestOf(unsigned worker) const { return workers_[worker].keys.get(); }
  void wait(unsigned worker, Waiter* waiter);
  void forget(unsigned worker, Waiter* waiter);
  // Null keys: the fetch has failed.
  void deliver(unsigned worker, Keys keys, net::Millis now);
  // The control thread's.
  void count(bool is_fetched) {
    using Counter = stats::HttpJwtAuthn::Counter;
    stats_->shard(0)->add(is_fetched ? Counter::JwksFetchSuccess : Counter::JwksFetchFailed);
  }

 private:
  struct OfWorker {
    Keys keys;
    net::Millis good_until = 0;
    std::vector<Waiter*> waiting;
    bool has_asked = false;
  };

  const uint32_t id_;
  const uint64_t lives_ms_;
  const std::shared_ptr<ControlAsks> asks_;
  const std::shared_ptr<stats::Block<stats::HttpJwtAuthn>> stats_;
  std::vector<OfWorker> workers_;
};

// Those of a data plane. The control thread's.
class JwtKeyStores {
 public:
  // `asks`: null: nobody can be asked.
  explicit JwtKeyStores(std::shared_ptr<ControlAsks> asks) : asks_(std::move(asks)) {}

  const std::shared_ptr<ControlAsks>& asks() const { return asks_; }
  void add(const std::shared_ptr<JwtKeyStore>& store) {
    std::erase_if(stores_, [](const auto& known) { return known.second.expired(); });
    stores_[store->id()] = store;
  }
  // Null: there is none of this number, or not any more.
  std::shared_ptr<JwtKeyStore> find(uint32_t id) const {
    const auto found = stores_.find(id);
    return found == stores_.end() ? nullptr : found->second.lock();
  }

 private:
  const std::shared_ptr<ControlAsks> asks_;
  std::map<uint32_t, std::weak_ptr<JwtKeyStore>> stores_;
};

}  // namespace fairlead::filters
