// A substitution format ("%REQ(:METHOD)% %RESPONSE_CODE%") as a list of pieces, run for each line
// or header. Immutable; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "format/context.h"
#include "format/piece.h"
#include "plan/plan.gen.h"

namespace fairlead::format {

class Format {
 public:
  Format() = default;
  explicit Format(const plan::Format& plan);

  bool isEmpty() const { return pieces_.empty(); }
  // The text when no piece depends on anything; null otherwise.
  const std::string* literal() const;
  // Whether a piece speaks of the request's head, or of the answer's.
  bool readsRequestHead() const;
  bool readsResponseHead() const;
  // `dash`: what has no value is shown as "-" (log lines), or as nothing (headers).
  void append(const FormatContext& context, bool dash, std::string* out) const;
  // A header's value: in the arena, or the format's own literal.
  std::string_view formatTo(const FormatContext& context, Arena& arena) const;

 private:
  std::vector<Piece> pieces_;
};

}  // namespace fairlead::format
