// A format whose lines are JSON: a value, which may be an object or a list of further ones.
// Immutable; any thread.
#pragma once

#include <string>
#include <vector>

#include "format/context.h"
#include "format/piece.h"
#include "plan/plan.gen.h"

namespace fairlead::format {

class JsonFormat {
 public:
  JsonFormat(const plan::JsonFormat& plan, bool omits_empty);

  bool readsRequestHead() const;
  bool readsResponseHead() const;
  // Appends the whole value.
  void append(const FormatContext& context, std::string* out) const;

 private:
  using Kind = plan::JsonFormat::Kind;

  // False: it is empty, and to be omitted. Then `out` is as before.
  bool appendValue(const FormatContext& context, std::string* out) const;
  bool appendOperator(const FormatContext& context, std::string* out) const;
  bool appendItems(const FormatContext& context, std::string* out) const;
  void appendText(const FormatContext& context, std::string* out) const;

  Kind kind_;
  bool omits_empty_;
  // `"name":` of an object's member.
  std::string key_;
  std::string literal_;
  std::vector<Piece> pieces_;
  std::vector<JsonFormat> items_;
};

}  // namespace fairlead::format
