// The buckets of a descriptor that leaves values open: one for each that requests come with, of
// which those that were asked last are kept. Any thread; behind a lock, as what is kept changes.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/token_bucket.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

class OpenBuckets {
 public:
  // `most`: so many are kept.
  OpenBuckets(const plan::LocalDescriptor& plan, size_t most);

  // Whether a request's descriptor has these keys, and the values that are not open.
  bool fits(std::string_view descriptor) const;
  // That of a descriptor which fits; full, where it is a new one.
  std::shared_ptr<TokenBucket> bucketOf(const std::string& descriptor, uint64_t now_us);

 private:
  using Kept = std::pair<std::string, std::shared_ptr<TokenBucket>>;

  std::vector<plan::DescriptorEntry> entries_;
  plan::TokenBucket bucket_plan_;
  size_t most_;
  Mutex mutex_;
  // The last that was asked first.
  std::list<Kept> kept_;
  // The keys are those of the list.
  std::unordered_map<std::string_view, std::list<Kept>::iterator> found_;
};

}  // namespace fairlead::filters
