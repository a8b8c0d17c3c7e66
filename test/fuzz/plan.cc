// Any bytes given to the plan's reader are an update or an error with words, never a crash.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "plan/plan.gen.h"

namespace {

std::string field(int number, std::string_view bytes) {
  std::string out;
  out.push_back(static_cast<char>(number << 3 | 2));
  out.push_back(static_cast<char>(bytes.size()));
  return out.append(bytes);
}

std::string number(int number, char value) { return {static_cast<char>(number << 3), value}; }

}  // namespace

std::vector<std::string> fuzzSeeds() {
  const std::string address = field(1, std::string_view("\x7f\0\0\1", 4)) + "\x10\x90\x4e";
  const std::string cluster = field(1, "origin") + number(4, 100) + number(7, 1) +
                              field(11, number(1, 5) + number(2, 6)) + field(23, address);
  const std::string assignment =
      field(1, "origin") + field(2, field(1, address) + field(2, "host") + number(3, 1));
  const std::string route = field(2, field(2, "/a")) + field(4, field(1, "origin"));
  const std::string table =
      field(1, "local") + field(2, field(1, "all") + field(2, "*") + field(3, route));
  std::string filter = number(1, 2);
  for (int depth = 0; depth < 8; ++depth) filter = number(1, 1) + field(2, filter);
  const std::string chain = field(3, field(1, "in") + field(43, field(3, filter)));
  // Source ports, packed and one by one.
  const std::string match = field(2, field(6, "\x50\x51\x90\x4e") + number(6, 7));
  const std::string listener = field(1, "main") + field(3, address) + field(8, chain + match);
  return {field(1, cluster), field(2, assignment), field(3, table), field(4, listener),
          field(1, cluster) + field(2, assignment) + field(3, table) + field(4, listener)};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fairlead::Result<fairlead::plan::Update> update = fairlead::plan::readUpdate(data, size);
  if (!update) FL_CHECK(!update.error().message.empty());
  return 0;
}
