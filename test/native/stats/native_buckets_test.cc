// Buckets as the real server (release 1.40) makes them of the same values.
#include "stats/native_buckets.h"

#include <sstream>
#include <string>

#include "test/native/test.h"

namespace fairlead::stats {

namespace {

// "schema 3, 1 zeros: 0x5 8x7": index and count of each bucket.
std::string bucketsOf(const std::vector<uint64_t>& values, uint32_t max_buckets) {
  BinCounts counts;
  for (const uint64_t value : values) counts.add(binOf(value), 1);
  NativeBuckets buckets;
  buckets.fill(Distribution(counts), max_buckets);
  std::ostringstream text;
  text << "schema " << buckets.schema() << ", " << buckets.zeros() << " zeros:";
  for (const auto& [index, count] : buckets.buckets()) text << " " << index << "x" << count;
  return text.str();
}

}  // namespace

TEST("native buckets: a bin counts by its lower edge, which an index includes") {
  EXPECT_EQ(bucketsOf({1}, 20), "schema 4, 0 zeros: 0x1");
  EXPECT_EQ(bucketsOf({2}, 20), "schema 4, 0 zeros: 16x1");
  EXPECT_EQ(bucketsOf({16}, 20), "schema 4, 0 zeros: 64x1");
  EXPECT_EQ(bucketsOf({777}, 20), "schema 4, 0 zeros: 154x1");
  EXPECT_EQ(bucketsOf({5, 123'456'789}, 20), "schema 4, 0 zeros: 38x1 430x1");
}

TEST("native buckets: zeros have a place of their own, and need no bucket") {
  EXPECT_EQ(bucketsOf({0, 0, 0}, 1), "schema 4, 3 zeros:");
  EXPECT_EQ(bucketsOf({0, 3, 0}, 20), "schema 4, 2 zeros: 26x1");
}

TEST("native buckets: they get coarser until the bins reach into no more than the limit") {
  // [1, 1.1) reaches into four buckets of schema 4, three of schema 3, two of the coarser ones.
  EXPECT_EQ(bucketsOf({1}, 4), "schema 4, 0 zeros: 0x1");
  EXPECT_EQ(bucketsOf({1}, 3), "schema 3, 0 zeros: 0x1");
  EXPECT_EQ(bucketsOf({1}, 2), "schema 2, 0 zeros: 0x1");
  EXPECT_EQ(bucketsOf({1}, 1), "schema -4, 0 zeros: 0x1");
  // [15, 16) ends where a bucket does.
  EXPECT_EQ(bucketsOf({15}, 1), "schema 3, 0 zeros: 32x1");
  EXPECT_EQ(bucketsOf({15}, 2), "schema 4, 0 zeros: 63x1");
  EXPECT_EQ(bucketsOf({16}, 1), "schema -3, 0 zeros: 1x1");
}

TEST("native buckets: those that bins share are counted once, and their values together") {
  std::vector<uint64_t> values(5, 1);
  values.insert(values.end(), 7, 2);
  values.insert(values.end(), 2, 3);
  values.insert(values.end(), 2, 10);
  values.insert(values.end(), 3, 11);
  values.insert(values.end(), 1, 12);
  EXPECT_EQ(bucketsOf(values, 100), "schema 4, 0 zeros: 0x5 16x7 26x2 54x2 56x3 58x1");
  EXPECT_EQ(bucketsOf(values, 7), "schema 2, 0 zeros: 0x5 4x7 7x2 14x5 15x1");
  EXPECT_EQ(bucketsOf(values, 3), "schema -1, 0 zeros: 0x5 1x9 2x6");
  EXPECT_EQ(bucketsOf(values, 2), "schema -2, 0 zeros: 0x5 1x15");
}

TEST("native buckets: the coarsest may be more than the limit") {
  std::vector<uint64_t> powers;
  for (int i = 0; i < 20; ++i) powers.push_back(uint64_t{1} << i);
  EXPECT_EQ(bucketsOf(powers, 1), "schema -4, 0 zeros: 0x1 1x16 2x3");
  EXPECT_EQ(bucketsOf(powers, 20),
            "schema -1, 0 zeros: 0x1 1x2 2x2 3x2 4x2 5x2 6x2 7x2 8x2 9x2 10x1");
}

}  // namespace fairlead::stats
