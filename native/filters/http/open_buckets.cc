#include "filters/http/open_buckets.h"

#include "filters/http/rate_limit_descriptors.h"

namespace fairlead::filters {

OpenBuckets::OpenBuckets(const plan::LocalDescriptor& plan, size_t most)
    : entries_(plan.entries),
      bucket_plan_(plan.bucket.value_or(plan::TokenBucket())),
      most_(most) {}

bool OpenBuckets::fits(std::string_view descriptor) const {
  size_t count = 0;
  bool are_same = true;
  forEachEntry(descriptor, [&](std::string_view key, std::string_view value) {
    if (count < entries_.size()) {
      const plan::DescriptorEntry& entry = entries_[count];
      are_same &= key == entry.key && (entry.value.empty() || value == entry.value);
    }
    ++count;
  });
  return are_same && count == entries_.size();
}

std::shared_ptr<TokenBucket> OpenBuckets::bucketOf(const std::string& descriptor, uint64_t now_us) {
  const std::lock_guard<Mutex> lock(mutex_);
  const auto found = found_.find(descriptor);
  if (found != found_.end()) {
    kept_.splice(kept_.begin(), kept_, found->second);
    return kept_.front().second;
  }
  kept_.emplace_front(descriptor, std::make_shared<TokenBucket>(
                                      bucket_plan_.max_tokens, bucket_plan_.tokens_per_fill,
                                      bucket_plan_.fill_interval_us, now_us));
  found_.emplace(kept_.front().first, kept_.begin());
  std::shared_ptr<TokenBucket> bucket = kept_.front().second;
  if (kept_.size() > most_) {
    found_.erase(kept_.back().first);
    kept_.pop_back();
  }
  return bucket;
}

}  // namespace fairlead::filters
