#include "tracing/spans.h"

#include <thread>

#include "test/native/test.h"

namespace fairlead::tracing {

TEST("Records come as they were told, all workers' at once") {
  int asked = 0;
  Spans spans(2, [&asked] { ++asked; });
  spans.push(1, "two");
  spans.push(0, "one");
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(spans.take(), "onetwo");
  EXPECT_EQ(spans.take(), "");
}

TEST("What finds no room is dropped and counted, and what comes later goes on") {
  Spans spans(1, nullptr);
  const std::string half(SpanRing::kBytes / 2, 'x');
  spans.push(0, half);
  spans.push(0, half);
  spans.push(0, "lost");
  EXPECT_EQ(spans.dropped(), 1u);
  EXPECT_EQ(spans.take().size(), SpanRing::kBytes);
  spans.push(0, "kept");
  EXPECT_EQ(spans.take(), "kept");
  EXPECT_EQ(spans.dropped(), 1u);
}

TEST("A record that goes past the ring's end is whole") {
  Spans spans(1, nullptr);
  spans.push(0, std::string(SpanRing::kBytes - 3, 'x'));
  spans.take();
  spans.push(0, "around");
  EXPECT_EQ(spans.take(), "around");
}

TEST("A worker tells while the control thread takes, and nothing is torn") {
  constexpr int kRecords = 100'000;
  Spans spans(1, nullptr);
  std::thread worker([&spans] {
    for (int i = 0; i < kRecords; ++i) spans.push(0, "0123456789");
  });
  size_t bytes = 0;
  bool is_torn = false;
  const auto take = [&] {
    const std::string taken = spans.take();
    bytes += taken.size();
    is_torn |= taken.size() % 10 != 0 || (!taken.empty() && taken[0] != '0');
  };
  while (bytes / 10 + spans.dropped() < kRecords) take();
  worker.join();
  EXPECT(!is_torn);
}

}  // namespace fairlead::tracing
