#include "log/ring.h"

#include <string>
#include <thread>

#include "test/native/test.h"

namespace fairlead::log {
namespace {

constexpr size_t kBytes = 4 * Ring::kLongText;

Record recordOf(std::string_view text, int64_t time_ns = 0) {
  Record record;
  record.time_ns = time_ns;
  record.text = text;
  return record;
}

TEST("records come out as they went in, in order") {
  Ring ring(kBytes);
  EXPECT(ring.front() == nullptr);
  EXPECT(ring.push(recordOf("first", 1)));
  EXPECT(ring.push(recordOf("", 2)));
  EXPECT_EQ(ring.front()->text, "first");
  ring.pop();
  EXPECT_EQ(ring.front()->text, "");
  EXPECT_EQ(ring.front()->time_ns, 2);
  ring.pop();
  EXPECT(ring.front() == nullptr);
  EXPECT(ring.isEmpty());
  EXPECT_EQ(ring.taken(), ring.pushed());
}

TEST("what does not fit is dropped and counted, and there is room again once some is taken") {
  Ring ring(kBytes);
  const std::string text(1000, 'x');
  size_t count = 0;
  while (ring.push(recordOf(text))) ++count;
  EXPECT(count > 40 && count < kBytes / 1000);
  EXPECT(!ring.push(recordOf(text)));
  EXPECT_EQ(ring.dropped(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT(ring.front() != nullptr);
    ring.pop();
  }
  EXPECT(ring.push(recordOf("again")));
  for (; ring.front() != nullptr; ring.pop()) --count;
  EXPECT_EQ(count + 1, 2u);
}

TEST("long texts are kept whole, within a limit") {
  Ring ring(kBytes);
  const std::string text(1024 * 1024, 'y');
  for (int i = 0; i < 4; ++i) EXPECT(ring.push(recordOf(text)));
  EXPECT(!ring.push(recordOf(text)));
  EXPECT(ring.front()->text == text);
  ring.pop();
  EXPECT(ring.push(recordOf(text)));
}

TEST("one thread pushes while another takes: nothing is lost or torn") {
  Ring ring(kBytes);
  constexpr int64_t kRecords = 200'000;
  std::thread writer([&ring] {
    for (int64_t i = 0; i < kRecords; ++i) {
      const std::string text(static_cast<size_t>(i % 300), static_cast<char>('a' + i % 26));
      while (!ring.push(recordOf(text, i))) std::this_thread::yield();
    }
  });
  bool is_good = true;
  for (int64_t i = 0; i < kRecords; ++i) {
    const Record* record = nullptr;
    while ((record = ring.front()) == nullptr) std::this_thread::yield();
    const std::string wanted(static_cast<size_t>(i % 300), static_cast<char>('a' + i % 26));
    is_good = is_good && record->time_ns == i && record->text == wanted;
    ring.pop();
  }
  writer.join();
  EXPECT(is_good);
}

}  // namespace
}  // namespace fairlead::log
