// Numbers in headers that ask for faults: what is read is what its digits say, and nothing that is
// no number is read.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "filters/http/fault_headers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fairlead::filters::faultNumber;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::optional<uint64_t> number = faultNumber(text, UINT64_MAX);
  FL_CHECK(!number || text.find_first_of("0123456789") != std::string_view::npos);
  if (!number) return 0;
  // The same number, however it was written.
  FL_CHECK(*faultNumber(std::to_string(*number), UINT64_MAX) == *number);
  FL_CHECK(*faultNumber(" +" + std::to_string(*number) + "\t", UINT64_MAX) == *number);
  const std::optional<uint64_t> bounded = faultNumber(text, 599);
  FL_CHECK(bounded.has_value() == (*number <= 599));
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  return {"100", " +7", "18446744073709551615", "18446744073709551616", "1.5", "-1", "0x10"};
}
