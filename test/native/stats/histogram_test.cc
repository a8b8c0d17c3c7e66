// The numbers were read from the real server's pages (release 1.40) after the same values.
#include "stats/histogram.h"

#include <cmath>
#include <memory>
#include <vector>

#include "stats/distribution.h"
#include "test/native/test.h"

namespace fairlead::stats {

namespace {

// `values`: how often each was recorded.
Distribution recorded(std::initializer_list<std::pair<uint64_t, int>> values) {
  HistogramCells cells;
  for (const auto& [value, times] : values) {
    for (int i = 0; i < times; ++i) cells.record(value);
  }
  const auto counts = std::make_unique<BinCounts>();
  cells.addTo(counts.get());
  return Distribution(*counts);
}

}  // namespace

TEST("a bin holds the values that agree in their first two digits") {
  EXPECT_EQ(binOf(0), 0);
  EXPECT_EQ(lowerEdge(binOf(1)), 1.0);
  EXPECT_EQ(binWidth(binOf(1)), 0.1);
  EXPECT_EQ(lowerEdge(binOf(9)), 9.0);
  EXPECT_EQ(lowerEdge(binOf(10)), 10.0);
  EXPECT_EQ(binWidth(binOf(10)), 1.0);
  EXPECT_EQ(binOf(100), binOf(109));
  EXPECT(binOf(109) != binOf(110));
  EXPECT_EQ(lowerEdge(binOf(105)), 100.0);
  EXPECT_EQ(binWidth(binOf(105)), 10.0);
  EXPECT_EQ(lowerEdge(binOf(99'999)), 99'000.0);
  EXPECT_EQ(lowerEdge(binOf(UINT64_MAX)), 18e18);
}

TEST("every value lies between its bin's edges, and bins follow the order of values") {
  Bin before = 0;
  for (int power = 0; power < 20; ++power) {
    for (const uint64_t factor : {1, 2, 5, 9}) {
      for (const uint64_t more : {uint64_t{0}, kPowersOfTen[power] / 2}) {
        if (power == 19 && (factor > 1 || more > 0)) continue;
        const uint64_t value = factor * kPowersOfTen[power] + more;
        const Bin bin = binOf(value);
        EXPECT(bin >= before);
        EXPECT(lowerEdge(bin) <= static_cast<double>(value));
        EXPECT(static_cast<double>(value) < lowerEdge(bin) + binWidth(bin) * 1.000001);
        before = bin;
      }
    }
  }
  EXPECT(binOf(UINT64_MAX) < kBins);
}

TEST("cells put each value into the bin that binOf names") {
  for (const uint64_t value : {0ull, 1ull, 9ull, 10ull, 99ull, 100ull, 305ull, 12'345ull,
                               999'999'999ull, 10'000'000'000'000'000'000ull, ~0ull}) {
    const Distribution one = recorded({{value, 1}});
    EXPECT_EQ(one.entries().size(), 1u);
    EXPECT_EQ(one.entries()[0].bin, binOf(value));
  }
}

TEST("a lone value's quantiles are the middle of its bin") {
  EXPECT_EQ(recorded({{2, 1}}).quantile(0.5), 2.05);
  EXPECT_EQ(recorded({{50, 1}}).quantile(0), 50.5);
  EXPECT_EQ(recorded({{305, 1}}).quantile(1), 305.0);
  EXPECT_EQ(recorded({{0, 1}}).quantile(1), 0.0);
  EXPECT(std::isnan(recorded({}).quantile(0.5)));
}

TEST("quantiles agree with the real server's to the last digit") {
  const Distribution sizes = recorded({{180, 7}, {190, 10}});
  const double wanted_sizes[] = {181.25,
                                 186.25,
                                 191.8181818181818,
                                 195.45454545454547,
                                 198.1818181818182,
                                 199.0909090909091,
                                 199.0909090909091,
                                 199.0909090909091,
                                 199.0909090909091,
                                 199.0909090909091};
  for (size_t i = 0; i < std::size(kQuantiles); ++i) {
    EXPECT_EQ(sizes.quantile(kQuantiles[i]), wanted_sizes[i]);
  }

  const Distribution times = recorded({{0, 5}, {41, 1}, {42, 1}, {43, 2}});
  EXPECT_EQ(times.quantile(0.5), 0.0);
  EXPECT_EQ(times.quantile(0.75), 42.5);
  EXPECT_EQ(times.quantile(0.9), 43.666666666666664);

  const Distribution accepted = recorded({{1, 17}});
  EXPECT_EQ(accepted.quantile(0), 1.0055555555555555);
  EXPECT_EQ(accepted.quantile(0.25), 1.0277777777777777);
  EXPECT_EQ(accepted.quantile(0.95), 1.0944444444444446);
}

TEST("a bucket counts the bins that begin at or below its bound") {
  const Distribution times = recorded({{0, 1}, {1, 2}, {50, 1}, {105, 1}, {4'000'000, 1}});
  const std::vector<uint64_t> counts = times.atOrBelow(kBucketBounds);
  EXPECT_EQ(counts[0], 1u);   // 0.5
  EXPECT_EQ(counts[1], 3u);   // 1
  EXPECT_EQ(counts[5], 4u);   // 50
  EXPECT_EQ(counts[6], 5u);   // 100: 105's bin begins there
  EXPECT_EQ(counts[18], 5u);  // 3600000
  EXPECT_EQ(times.count(), 6u);
}

TEST("the sum takes each value for the harmonic middle of its bin") {
  EXPECT_EQ(recorded({{0, 3}}).sum(), 0.0);
  EXPECT_EQ(recorded({{1, 2}, {50, 1}}).sum(), 52.590287600188588612581952475011);
  EXPECT_EQ(recorded({{180, 7}, {190, 10}}).sum(), 3242.7720027720029065676499158144);
  EXPECT_EQ(recorded({{9, 17}}).sum(), 153.8453038674033166444132803008);
}

TEST("what came since an earlier state is the difference, bin by bin") {
  const Distribution before = recorded({{5, 2}, {70, 1}});
  const Distribution after = recorded({{1, 1}, {5, 2}, {70, 3}});
  const Distribution since = after.since(before);
  EXPECT_EQ(since.count(), 3u);
  EXPECT_EQ(since.entries().size(), 2u);
  EXPECT_EQ(since.entries()[0].bin, binOf(1));
  EXPECT_EQ(since.entries()[1].bin, binOf(70));
  EXPECT_EQ(since.entries()[1].count, 2u);
  EXPECT(after.since(after).empty());
}

}  // namespace fairlead::stats
