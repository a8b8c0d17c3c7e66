#include "filters/http/local_buckets.h"

#include <algorithm>
#include <utility>

namespace fairlead::filters {

namespace {

Result<std::unique_ptr<TokenBucket>> bucketOf(const plan::TokenBucket& plan, uint64_t now_us) {
  if (plan.tokens_per_fill == 0 || plan.fill_interval_us == 0) {
    return Error{"a bucket of tokens that is never filled"};
  }
  return std::make_unique<TokenBucket>(plan.max_tokens, plan.tokens_per_fill, plan.fill_interval_us,
                                       now_us);
}

// As the real server: a request that asks for none has none.
bool takes(TokenBucket& bucket, uint64_t hits, uint64_t shares, uint64_t now_us) {
  // More than it ever has is too many, whatever it is multiplied by.
  const uint64_t most = bucket.maxTokens();
  return hits > 0 && hits <= most && shares <= most && hits * shares <= most &&
         bucket.tryTake(now_us, hits * shares);
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
    const plan::TokenBucket bucket_plan = descriptor.bucket.value_or(plan::TokenBucket());
    Result<std::unique_ptr<TokenBucket>> bucket = bucketOf(bucket_plan, now_us);
    if (!bucket) return bucket.error();
    const Limit limit{static_cast<double>(bucket_plan.tokens_per_fill) /
                          static_cast<double>(bucket_plan.fill_interval_us),
                      descriptor.shadow_mode};
    const bool is_open = std::ranges::any_of(
        descriptor.entries, [](const plan::DescriptorEntry& entry) { return entry.value.empty(); });
    if (is_open) {
      auto open = std::make_unique<OpenBuckets>(descriptor, plan.most_kept_buckets);
      buckets->open_.push_back({limit, std::move(open)});
      continue;
    }
    Described described{limit, {}, std::move(bucket.value())};
    for (const plan::DescriptorEntry& entry : descriptor.entries) {
      appendEntry(entry.key, entry.value, &described.descriptor);
    }
    buckets->described_.push_back(std::move(described));
  }
  return buckets;
}

// The slowest first.
std::vector<LocalBuckets::Found> LocalBuckets::find(const std::vector<Descriptor>& descriptors,
                                                    uint64_t now_us) const {
  std::vector<Found> found;
  for (const Descriptor& asked : descriptors) {
    const auto described = std::ranges::find(described_, asked.entries, &Described::descriptor);
    if (described != described_.end()) {
      found.push_back({&*described, &asked, described->bucket.get(), nullptr});
      continue;
    }
    const auto open = std::ranges::find_if(
        open_, [&asked](const Open& one) { return one.buckets->fits(asked.entries); });
    if (open == open_.end()) continue;
    std::shared_ptr<TokenBucket> bucket = open->buckets->bucketOf(asked.entries, now_us);
    TokenBucket* const raw = bucket.get();
    found.push_back({&*open, &asked, raw, std::move(bucket)});
  }
  std::ranges::stable_sort(found, {}, [](const Found& one) { return one.limit->rate; });
  return found;
}

LocalBuckets::Verdict LocalBuckets::take(const std::vector<Descriptor>& descriptors,
                                         uint64_t now_us, uint64_t shares) {
  const auto verdict = [](bool passes, bool is_shadow, Found& by) {
    return Verdict{passes, is_shadow, by.bucket, std::move(by.kept), by.asked->tells_limit};
  };
  std::vector<Found> found;
  if (!descriptors.empty()) found = find(descriptors, now_us);
  // Those behind one in shadow mode are asked all the same.
  Found* shadowed = nullptr;
  for (Found& one : found) {
    const uint64_t hits = one.asked->hits.value_or(1);
    if (takes(*one.bucket, hits, shares, now_us)) continue;
    if (!one.limit->shadow_mode) return verdict(false, false, one);
    if (!shadowed) shadowed = &one;
  }
  if (found.empty() || always_asks_own_) {
    if (is_closed_) return {false, false, nullptr, nullptr};
    if (own_ && !takes(*own_, 1, shares, now_us)) return {false, false, own_.get(), nullptr};
  }
  if (shadowed) return verdict(true, true, *shadowed);
  if (!found.empty()) return verdict(true, false, found[0]);
  return {true, false, own_.get(), nullptr};
}

}  // namespace fairlead::filters
