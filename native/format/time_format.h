// How a moment reads: "2026-11-21T00:27:50.903Z", or by a strftime format that also knows %f and
// %3f (digits of the second's fraction) and %E3S, %E*S, %E3f, %E*f, %Ez, %E*z, %E4Y. In UTC,
// or as this machine's clock has it ("2026-11-21T01:27:50.903+0100"). Immutable; any thread.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::format {

class TimeFormat {
 public:
  // Empty: as in the first example.
  explicit TimeFormat(std::string_view format = {}, bool is_local = false);

  void append(uint64_t wall_us, std::string* out) const;

 private:
  struct Part {
    enum class Kind : uint8_t {
      Strftime,
      // `digits` of the fraction, cut or filled with zeros.
      Fraction,
      // As many digits as it takes, one at least.
      ShortFraction,
      // The second with `digits` of the fraction; none without any.
      Seconds,
      // The second with as many digits as it takes, maybe none.
      ShortSeconds,
      // Seconds since 1970, `digits` wide at least.
      EpochSeconds,
      // From UTC, with colons: hours and minutes, and the seconds where `digits` says so.
      Offset,
    };
    Kind kind;
    uint8_t digits = 0;
    std::string text = {};
  };

  // Reads what stands after a percent sign, if it is one of ours; returns its bytes, or 0.
  size_t parseOwn(std::string_view text);
  void addText(std::string_view text);
  static void appendPart(const Part& part, uint64_t wall_us, const std::tm& time, std::string* out);

  bool is_local_ = false;
  std::vector<Part> parts_;
};

}  // namespace fairlead::format
