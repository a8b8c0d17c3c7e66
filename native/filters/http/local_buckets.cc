#include "filters/http/local_buckets.h"

#include <algorithm>
#include <utility>

#include "filters/http/rate_limit_descriptors.h"

namespace fairlead::filters {

namespace {

Result<std::unique_ptr<TokenBucket>> bucketOf(const plan::TokenBucket& plan, uint64_t now_us) {
  if (plan.tokens_per_fill == 0 || plan.fill_interval_us == 0) {
    return Error{"a bucket of tokens that is never filled"};
  }
  return std::make_unique<TokenBucket>(plan.max_tokens, plan.tokens_per_fill, plan.fill_interval_us,
                                       now_us);
}

}  // namespace

Result<std::shared_ptr<LocalBuckets>> LocalBuckets::build(const plan::LocalRatelimit& plan,
                                                          uint64_t now_us) {
  auto buckets = std::make_shared<LocalBuckets>();
  if (plan.bucket) {
    Result<std::unique_ptr<TokenBucket>> own = bucketOf(*plan.bucket, now_us);
    if (!own) return own.error();
    buckets->is_closed_ = plan.bucket->max_tokens == 0;
    if (!buckets->is_closed_) buckets->own_ = std::move(own.value());
  }
  buckets->always_asks_own_ = plan.always_asks_bucket;
  for (const plan::LocalDescriptor& descriptor : plan.descriptors) {
    Described described;
    for (const plan::DescriptorEntry& entry : descriptor.entries) {
      appendEntry(entry.key, entry.value, &described.descriptor);
    }
    const plan::TokenBucket bucket_plan = descriptor.bucket.value_or(plan::TokenBucket());
    Result<std::unique_ptr<TokenBucket>> bucket = bucketOf(bucket_plan, now_us);
    if (!bucket) return bucket.error();
    described.bucket = std::move(bucket.value());
    described.rate = static_cast<double>(bucket_plan.tokens_per_fill) /
                     static_cast<double>(bucket_plan.fill_interval_us);
    described.shadow_mode = descriptor.shadow_mode;
    buckets->described_.push_back(std::move(described));
  }
  std::ranges::stable_sort(buckets->described_, {}, &Described::rate);
  return buckets;
}

LocalBuckets::Verdict LocalBuckets::take(const std::vector<std::string>& descriptors,
                                         uint64_t now_us) {
  const TokenBucket* first = nullptr;
  if (!descriptors.empty()) {
    for (const Described& described : described_) {
      if (std::ranges::find(descriptors, described.descriptor) == descriptors.end()) continue;
      if (!described.bucket->tryTake(now_us)) {
        return {described.shadow_mode, described.shadow_mode, described.bucket.get()};
      }
      if (!first) first = described.bucket.get();
    }
  }
  if (first && !always_asks_own_) return {true, false, first};
  if (is_closed_) return {false, false, nullptr};
  if (!own_) return {true, false, first};
  if (!own_->tryTake(now_us)) return {false, false, own_.get()};
  return {true, false, first ? first : own_.get()};
}

}  // namespace fairlead::filters
