// Prometheus' native histograms: buckets that grow by a constant factor, 2^(2^-schema), of which
// bucket i ends at factor^i. The control thread's.
#pragma once

#include <cstdint>
#include <vector>

#include "stats/distribution.h"

namespace fairlead::stats {

class NativeBuckets {
 public:
  // Values up to here are 0.
  static constexpr double kZeroThreshold = 0.5;
  static constexpr int kFinestSchema = 4;
  static constexpr int kCoarsestSchema = -4;

  struct Bucket {
    int32_t index;
    uint64_t count;
  };

  // The finest schema in which the bins of `of` reach into no more than `max_buckets` buckets; the
  // coarsest where none is.
  void fill(const Distribution& of, uint32_t max_buckets);

  int schema() const { return schema_; }
  uint64_t zeros() const { return zeros_; }
  // By index, none of them empty. A bin's values are all in the bucket of its lower edge.
  const std::vector<Bucket>& buckets() const { return buckets_; }

 private:
  int schema_ = kFinestSchema;
  uint64_t zeros_ = 0;
  std::vector<Bucket> buckets_;
};

}  // namespace fairlead::stats
