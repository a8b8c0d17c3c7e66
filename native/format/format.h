// A substitution format ("%REQ(:METHOD)% %RESPONSE_CODE%") as a list of pieces, or as JSON, run for
// each line or header. Immutable; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "format/context.h"
#include "format/json_format.h"
#include "format/piece.h"
#include "plan/plan.gen.h"

namespace fairlead::format {

class Format {
 public:
  Format() = default;
  explicit Format(const plan::Format& plan);

  // The text when no piece depends on anything; null otherwise.
  const std::string* literal() const;
  // Whether a piece speaks of the request's head, or of the answer's.
  bool readsRequestHead() const;
  bool readsResponseHead() const;
  // A line of a log. What has no value reads as "-", unless the format omits it.
  void appendLine(const FormatContext& context, std::string* out) const;
  // A header's value: in the arena, or the format's own literal. What has no value reads as
  // nothing, and what would end a line as a blank.
  std::string_view formatTo(const FormatContext& context, Arena& arena) const;

 private:
  std::vector<Piece> pieces_;
  std::optional<JsonFormat> json_;
  bool omits_empty_ = false;
};

}  // namespace fairlead::format
