// A substitution format ("%REQ(:METHOD)% %RESPONSE_CODE%") as a list of pieces, run for each line or
// header. Immutable; any thread.
#pragma once

#include <string>
#include <vector>

#include "format/context.h"
#include "plan/plan.gen.h"

namespace fairlead::format {

class Format {
 public:
  Format() = default;
  explicit Format(const plan::Format& plan) : pieces_(plan.pieces) {}

  bool isEmpty() const { return pieces_.empty(); }
  // The text when no piece depends on anything; null otherwise.
  const std::string* literal() const;
  // `dash`: what has no value is shown as "-" (log lines), or as nothing (headers).
  void append(const FormatContext& context, bool dash, std::string* out) const;

 private:
  std::vector<plan::FormatPiece> pieces_;
};

// "2026-11-21T00:27:50.903Z", or by a strftime format with %f, %3f… for fractions and %s for the
// seconds of the epoch.
void appendTime(uint64_t wall_us, std::string_view format, std::string* out);

}  // namespace fairlead::format
