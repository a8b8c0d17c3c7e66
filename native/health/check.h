// The checks of one host: when they come, what their results make of its health. How one is made is
// its subclass's. The checker's thread.
#pragma once

#include <memory>

#include "base/random.h"
#include "health/check_config.h"
#include "health/event_log.h"
#include "http/codec_scratch.h"
#include "net/loop.h"
#include "upstream/health.h"

namespace fairlead::health {

// What the checker lends to all of its checks.
struct CheckContext {
  net::Loop& loop;
  const http::CodecScratch& scratch;
  Random& random;
  upstream::HealthInbox& inbox;
};

// The flags that are the checks' to set.
constexpr upstream::HealthFlags kCheckFlags =
    upstream::HealthFlag::FailedActive | upstream::HealthFlag::DegradedActive |
    upstream::HealthFlag::PendingActive | upstream::HealthFlag::ExcludedImmediately |
    upstream::HealthFlag::ActiveTimeout;

// When a check begins that is due then: to be woken in each millisecond costs more than what a
// check does, so those that are due at nearly the same time go together. Earlier or later than
// `due` by no more than 10 ms, and no more than one in 200 of the interval.
net::Millis togetherWithOthers(net::Millis due, uint64_t interval_ms);

class Check : private net::Timer {
 public:
  Check(CheckContext& context, std::shared_ptr<const CheckConfig> config,
        std::shared_ptr<upstream::Host> host);
  virtual ~Check();
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;

  // The first comes now, or within the initial jitter.
  void start();
  // The host said in an answer that it is not well.
  void onSaidUnwell();
  const std::shared_ptr<upstream::Host>& host() const { return host_; }

 protected:
  // One check begins: ends with succeed() or fail(), which may come before this returns.
  virtual void begin() = 0;
  // Its time is over: none of the two comes any more.
  virtual void giveUp() = 0;

  void succeed(bool degraded);
  // `is_retriable`: it takes several in a row, as with those of the network.
  void fail(Failure failure, bool is_retriable = false);
  // Of the answer that is being judged; 0: there is none.
  void setStatus(uint16_t status) { status_ = status; }
  // The failing answer asks that the host is not counted at all.
  void excludeHost() { change({}, upstream::HealthFlag::ExcludedImmediately); }
  bool isUnderWay() const { return is_under_way_; }

  CheckContext& context() { return context_; }
  const CheckConfig& config() const { return *config_; }
  const plan::HealthCheck& plan() const { return config_->plan(); }
  // Null: the kernel refuses, `error` is its errno.
  net::Connection* connect(int* error);

 private:
  enum class Transition : uint8_t { Unchanged, Pending, Changed };

  void onTimer() override;
  void wait(bool is_well, Transition transition);
  void armIn(uint64_t ms);
  uint64_t intervalMs(bool is_well, Transition transition) const;
  uint64_t withJitter(uint64_t base_ms, uint64_t jitter_ms) const;
  Transition noteFailure(Failure failure, bool is_retriable);
  // What is known of the host from here on; goes out with publish().
  void change(upstream::HealthFlags cleared, upstream::HealthFlags set);
  void publish();
  // One of those that the cluster may wait for.
  void countDone();
  void tellRoundOver();
  bool has(upstream::HealthFlag flag) const { return flags_.has(flag); }

  CheckContext& context_;
  const std::shared_ptr<const CheckConfig> config_;
  const std::shared_ptr<upstream::Host> host_;
  // Where it is checked, if not at its own address.
  const std::unique_ptr<const net::Address> address_;
  // What checks know of the host, and what the control thread was told of that.
  upstream::HealthFlags flags_;
  upstream::HealthFlags published_;
  uint32_t failures_ = 0;
  uint32_t successes_ = 0;
  uint16_t status_ = 0;
  bool is_under_way_ = false;
  bool is_first_ = true;
  bool is_first_published_ = false;
};

}  // namespace fairlead::health
