#include "format/format.h"

#include <algorithm>

#include "base/line_ends.h"

namespace fairlead::format {

Format::Format(const plan::Format& plan) : omits_empty_(plan.omit_empty) {
  if (plan.json) json_.emplace(*plan.json, omits_empty_);
  pieces_.reserve(plan.pieces.size());
  for (const plan::FormatPiece& piece : plan.pieces) pieces_.emplace_back(piece);
}

bool Format::readsRequestHead() const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [](const Piece& piece) { return piece.readsRequestHead(); }) ||
         (json_ && json_->readsRequestHead());
}

bool Format::readsResponseHead() const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [](const Piece& piece) { return piece.readsResponseHead(); }) ||
         (json_ && json_->readsResponseHead());
}

const std::string* Format::literal() const {
  static const std::string kEmpty;
  if (pieces_.empty()) return &kEmpty;
  return pieces_.size() == 1 ? pieces_[0].literal() : nullptr;
}

void Format::appendLine(const FormatContext& context, std::string* out) const {
  if (json_) {
    json_->append(context, out);
    out->push_back('\n');
    return;
  }
  for (const Piece& piece : pieces_) {
    if (!piece.append(context, out) && !omits_empty_) out->push_back('-');
  }
}

std::string_view Format::formatTo(const FormatContext& context, Arena& arena) const {
  if (const std::string* text = literal()) return *text;
  // Keeps its memory from one value to the next.
  thread_local std::string text;
  text.clear();
  for (const Piece& piece : pieces_) piece.append(context, &text);
  // Metadata, filter state and certificates may have been said by clients, in other ways than lines
  // of a head: none of it may end one.
  blankLineEnds(&text);
  return text.empty() ? std::string_view("") : arena.copy(text);
}

}  // namespace fairlead::format
