#include "format/json_format.h"

#include <algorithm>

#include "base/json.h"

namespace fairlead::format {

namespace {

// Makes what stands from `start` on the inside of a JSON string.
void escapeFrom(size_t start, std::string* out) {
  if (isPlainJson(std::string_view(*out).substr(start))) return;
  // Keeps its memory from one value to the next.
  thread_local std::string text;
  text.assign(*out, start);
  out->resize(start);
  appendJsonInside(out, text);
}

}  // namespace

JsonFormat::JsonFormat(const plan::JsonFormat& plan, bool omits_empty)
    : kind_(plan.kind),
      omits_empty_(omits_empty),
      key_(plan.key.empty() ? "" : plan.key + ":"),
      literal_(plan.literal) {
  pieces_.reserve(plan.pieces.size());
  for (const plan::FormatPiece& piece : plan.pieces) pieces_.emplace_back(piece);
  items_.reserve(plan.items.size());
  for (const plan::JsonFormat& item : plan.items) items_.emplace_back(item, omits_empty);
}

bool JsonFormat::readsRequestHead() const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [](const Piece& piece) { return piece.readsRequestHead(); }) ||
         std::any_of(items_.begin(), items_.end(),
                     [](const JsonFormat& item) { return item.readsRequestHead(); });
}

bool JsonFormat::readsResponseHead() const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [](const Piece& piece) { return piece.readsResponseHead(); }) ||
         std::any_of(items_.begin(), items_.end(),
                     [](const JsonFormat& item) { return item.readsResponseHead(); });
}

void JsonFormat::append(const FormatContext& context, std::string* out) const {
  if (!appendValue(context, out)) out->append("{}");
}

bool JsonFormat::appendValue(const FormatContext& context, std::string* out) const {
  switch (kind_) {
    case Kind::Literal:
      out->append(literal_);
      return true;
    case Kind::Null:
      if (!omits_empty_) out->append("null");
      return !omits_empty_;
    case Kind::Value:
      return appendOperator(context, out);
    case Kind::Text:
      appendText(context, out);
      return true;
    case Kind::Object:
    case Kind::List:
      return appendItems(context, out);
  }
  return false;
}

bool JsonFormat::appendOperator(const FormatContext& context, std::string* out) const {
  const Piece& piece = pieces_.front();
  const size_t start = out->size();
  if (piece.isJson(context)) {
    if (piece.appendJson(context, out) && out->size() > start) return true;
  } else {
    out->push_back('"');
    const size_t value = out->size();
    if (piece.append(context, out)) {
      escapeFrom(value, out);
      out->push_back('"');
      return true;
    }
  }
  out->resize(start);
  if (!omits_empty_) out->append("null");
  return !omits_empty_;
}

void JsonFormat::appendText(const FormatContext& context, std::string* out) const {
  out->push_back('"');
  for (const Piece& piece : pieces_) {
    const size_t start = out->size();
    if (piece.append(context, out)) {
      escapeFrom(start, out);
    } else if (!omits_empty_) {
      out->push_back('-');
    }
  }
  out->push_back('"');
}

bool JsonFormat::appendItems(const FormatContext& context, std::string* out) const {
  const bool is_object = kind_ == Kind::Object;
  const size_t start = out->size();
  out->push_back(is_object ? '{' : '[');
  const size_t first = out->size();
  for (const JsonFormat& item : items_) {
    const size_t before = out->size();
    if (before != first) out->push_back(',');
    out->append(item.key_);
    if (!item.appendValue(context, out)) out->resize(before);
  }
  if (is_object && omits_empty_ && out->size() == first) {
    out->resize(start);
    return false;
  }
  out->push_back(is_object ? '}' : ']');
  return true;
}

}  // namespace fairlead::format
