#include "format/format.h"

#include <algorithm>

namespace fairlead::format {

Format::Format(const plan::Format& plan) {
  pieces_.reserve(plan.pieces.size());
  for (const plan::FormatPiece& piece : plan.pieces) pieces_.emplace_back(piece);
}

bool Format::readsRequestHead() const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [](const Piece& piece) { return piece.readsRequestHead(); });
}

bool Format::readsResponseHead() const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [](const Piece& piece) { return piece.readsResponseHead(); });
}

const std::string* Format::literal() const {
  static const std::string kEmpty;
  if (pieces_.empty()) return &kEmpty;
  return pieces_.size() == 1 ? pieces_[0].literal() : nullptr;
}

void Format::append(const FormatContext& context, bool dash, std::string* out) const {
  for (const Piece& piece : pieces_) {
    if (!piece.append(context, out) && dash) out->push_back('-');
  }
}

std::string_view Format::formatTo(const FormatContext& context, Arena& arena) const {
  if (const std::string* text = literal()) return *text;
  // Keeps its memory from one value to the next.
  thread_local std::string text;
  text.clear();
  append(context, false, &text);
  return text.empty() ? std::string_view("") : arena.copy(text);
}

}  // namespace fairlead::format
