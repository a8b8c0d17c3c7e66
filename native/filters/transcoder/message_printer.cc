#include "filters/transcoder/message_printer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

#include "filters/transcoder/known_values.h"
#include "filters/transcoder/numbers.h"
#include "filters/transcoder/utf8.h"

namespace fairlead::transcoder {

bool MessagePrinter::print(const MessageType& type, std::string_view bytes, std::string* out) {
  out_ = out;
  error_.clear();
  entries_.clear();
  depth_ = indent_ = 0;
  if (!printMessage(type, bytes)) return false;
  newLine();
  return true;
}

// ---- messages ----

bool MessagePrinter::printMessage(const MessageType& type, std::string_view bytes) {
  if (depth_ > kMaxDepth) return refuse("allowed depth exceeded");
  ++depth_;
  Span span{};
  if (!scan(type, bytes, &span)) return false;
  bool is_fine = true;
  if (type.known != KnownType::None) {
    is_fine = printKnown(type, span);
  } else {
    open('{');
    const size_t empty = out_->size();
    is_fine = printFields(type, span, true);
    close('}', out_->size() == empty);
  }
  drop(span);
  --depth_;
  return is_fine;
}

bool MessagePrinter::printFields(const MessageType& type, Span span, bool is_first) {
  if (!options_.prints_defaults) {
    for (size_t at = span.begin; at < span.end;) {
      const Field& field = *entries_[at].field;
      const Span own = of({at, span.end}, field.number);
      if (!printField(field, own, &is_first)) return false;
      at = own.end;
    }
    return true;
  }
  size_t at = span.begin;
  for (const Field* field : type.by_number) {
    const Span own = of({at, span.end}, field->number);
    at = own.end;
    const bool is_there = own.begin < own.end;
    if (!is_there && (field->has_presence || field->isMessage()) && !field->is_repeated) continue;
    if (!printField(*field, own, &is_first)) return false;
  }
  return true;
}

bool MessagePrinter::printField(const Field& field, Span span, bool* is_first) {
  if (!field.is_repeated && span.begin < span.end) {
    bool is_empty = false;
    if (!isEmptyValue(entries_[span.begin], &is_empty)) return false;
    if (is_empty) return true;
  }
  comma(is_first);
  newLine();
  out_->append(options_.keeps_field_names ? field.printed_own_name : field.printed_name);
  if (options_.adds_whitespace) out_->push_back(' ');
  if (field.isMap()) return printMap(field, span);
  if (field.is_repeated) return printList(span);
  return span.begin < span.end ? printEntry(entries_[span.begin]) : printDefault(field);
}

bool MessagePrinter::isEmptyValue(const Entry& entry, bool* is_empty) {
  const MessageType* const type = entry.field->message;
  *is_empty = false;
  if (!type || type->known != KnownType::Value) return true;
  Span span{};
  if (!scan(*type, entry.bytes, &span)) return false;
  *is_empty = span.begin == span.end;
  drop(span);
  return true;
}

// ---- lists and maps ----

bool MessagePrinter::printList(Span span) {
  open('[');
  bool is_first = true;
  for (size_t i = span.begin; i < span.end; ++i) {
    const Entry entry = entries_[i];
    if (!(entry.is_packed ? printPacked(entry, &is_first) : printElement(entry, &is_first))) {
      return false;
    }
  }
  close(']', is_first);
  return true;
}

bool MessagePrinter::printElement(const Entry& entry, bool* is_first) {
  bool is_empty = false;
  if (!isEmptyValue(entry, &is_empty)) return false;
  if (is_empty) return true;
  comma(is_first);
  newLine();
  return printEntry(entry);
}

bool MessagePrinter::printPacked(const Entry& entry, bool* is_first) {
  WireReader reader(entry.bytes);
  while (!reader.isAtEnd()) {
    uint64_t number = 0;
    if (!readNumber(*entry.field, reader, &number)) return false;
    comma(is_first);
    newLine();
    printNumber(*entry.field, number);
  }
  return true;
}

bool MessagePrinter::printMap(const Field& field, Span span) {
  open('{');
  bool is_first = true;
  for (size_t i = span.begin; i < span.end; ++i) {
    const Entry entry = entries_[i];
    if (!printMapEntry(field, entry, &is_first)) return false;
  }
  close('}', is_first);
  return true;
}

// A key or a value that is not there has its default.
bool MessagePrinter::printMapEntry(const Field& field, const Entry& entry, bool* is_first) {
  if (depth_ > kMaxDepth) return refuse("allowed depth exceeded");
  ++depth_;
  Span span{};
  if (!scan(*field.message, entry.bytes, &span)) return false;
  const Span value = of(span, 2);
  const bool has_value = value.begin < value.end;
  const Field& value_field = *field.message->find(2);
  bool is_empty =
      !has_value && value_field.message && value_field.message->known == KnownType::Value;
  if (has_value && !isEmptyValue(entries_[value.begin], &is_empty)) return false;
  if (!is_empty) {
    comma(is_first);
    newLine();
    if (!printKey(*field.message->find(1), of(span, 1))) return false;
    out_->push_back(':');
    if (options_.adds_whitespace) out_->push_back(' ');
    const bool is_fine =
        has_value ? printEntry(Entry(entries_[value.begin])) : printDefault(value_field);
    if (!is_fine) return false;
  }
  drop(span);
  --depth_;
  return true;
}

bool MessagePrinter::printKey(const Field& field, Span span) {
  const bool is_text = field.kind == Kind::String;
  if (is_text) {
    if (span.begin == span.end) {
      out_->append("\"\"");
      return true;
    }
    return printEntry(Entry(entries_[span.begin]));
  }
  // 64 bits have quotes anyway.
  std::string number;
  std::swap(number, *out_);
  printNumber(field, span.begin == span.end ? 0 : entries_[span.begin].number);
  std::swap(number, *out_);
  const bool is_quoted = number.starts_with('"');
  if (!is_quoted) out_->push_back('"');
  out_->append(number);
  if (!is_quoted) out_->push_back('"');
  return true;
}

// ---- values ----

bool MessagePrinter::printEntry(const Entry& entry) {
  const Field& field = *entry.field;
  switch (field.kind) {
    case Kind::String:
      appendJsonString(out_, entry.bytes);
      return true;
    case Kind::Bytes:
      appendJsonBytes(out_, entry.bytes);
      return true;
    case Kind::Message:
    case Kind::Group:
      return printMessage(*field.message, entry.bytes);
    default:
      printNumber(field, entry.number);
      return true;
  }
}

bool MessagePrinter::printDefault(const Field& field) {
  if (field.message) return printMessage(*field.message, {});
  if (field.kind == Kind::String || field.kind == Kind::Bytes) {
    out_->append("\"\"");
  } else {
    printNumber(field, 0);
  }
  return true;
}

void MessagePrinter::printNumber(const Field& field, uint64_t number) {
  const auto quoted = [this](const std::string& text) {
    out_->push_back('"');
    out_->append(text);
    out_->push_back('"');
  };
  const auto real = [&](auto value) {
    if (std::isfinite(value)) {
      out_->append(numberText(value));
    } else {
      quoted(numberText(value));
    }
  };
  switch (field.kind) {
    case Kind::Double:
      return real(std::bit_cast<double>(number));
    case Kind::Float:
      return real(std::bit_cast<float>(static_cast<uint32_t>(number)));
    case Kind::Int64:
    case Kind::SFixed64:
    case Kind::SInt64:
      return quoted(std::to_string(static_cast<int64_t>(number)));
    case Kind::UInt64:
    case Kind::Fixed64:
      return quoted(std::to_string(number));
    case Kind::Bool:
      out_->append(number != 0 ? "true" : "false");
      return;
    case Kind::UInt32:
    case Kind::Fixed32:
      out_->append(std::to_string(static_cast<uint32_t>(number)));
      return;
    case Kind::Enum: {
      if (field.enumeration->is_null) {
        out_->append("null");
        return;
      }
      const auto value = static_cast<int32_t>(number);
      const EnumValue* const name =
          options_.prints_enums_as_numbers ? nullptr : field.enumeration->find(value);
      if (name) return quoted(name->name);
      out_->append(std::to_string(value));
      return;
    }
    default:
      out_->append(std::to_string(static_cast<int32_t>(number)));
  }
}

// ---- types with a form of their own ----

bool MessagePrinter::printKnown(const MessageType& type, Span span) {
  switch (type.known) {
    case KnownType::Any:
      return printAny(type, span);
    case KnownType::Duration:
    case KnownType::Timestamp:
      return printTime(type, span);
    case KnownType::FieldMask:
      return printMask(type, span);
    case KnownType::Struct:
      return printMap(*type.find(1), of(span, 1));
    case KnownType::ListValue:
      return printList(of(span, 1));
    case KnownType::Value:
      return printValueMessage(type, span);
    case KnownType::Wrapper: {
      const Span value = of(span, 1);
      return value.begin < value.end ? printEntry(Entry(entries_[value.begin]))
                                     : printDefault(*type.find(1));
    }
    case KnownType::None:
      break;
  }
  return true;
}

// The first of its fields that is there; none: it is nothing, not even null.
bool MessagePrinter::printValueMessage(const MessageType&, Span span) {
  if (span.begin == span.end) return true;
  const Entry entry = entries_[span.begin];
  if (entry.field->number == 1) {
    out_->append("null");
    return true;
  }
  if (entry.field->number == 2) {
    const auto value = std::bit_cast<double>(entry.number);
    if (!std::isfinite(value)) {
      return refuse(std::string("google.protobuf.Value cannot encode double values for ") +
                    (std::isnan(value) ? "nan" : "infinity") +
                    ", because it would be parsed as a string");
    }
  }
  return printEntry(entry);
}

bool MessagePrinter::printTime(const MessageType& type, Span span) {
  const Span seconds = of(span, 1);
  const Span nanos = of(span, 2);
  const auto numberOf = [this](Span one) {
    return one.begin < one.end ? entries_[one.begin].number : 0;
  };
  const auto whole = static_cast<int64_t>(numberOf(seconds));
  const auto fraction = static_cast<int32_t>(numberOf(nanos));
  const char* const wrong = type.known == KnownType::Duration
                                ? appendDuration(out_, whole, fraction)
                                : appendTimestamp(out_, whole, fraction);
  return !wrong || refuse(wrong);
}

bool MessagePrinter::printMask(const MessageType&, Span span) {
  const Span paths = of(span, 1);
  out_->push_back('"');
  for (size_t i = paths.begin; i < paths.end; ++i) {
    if (i > paths.begin) out_->push_back(',');
    std::string path;
    appendMaskPath(&path, entries_[i].bytes);
    std::string quoted;
    appendJsonString(&quoted, path);
    out_->append(quoted, 1, quoted.size() - 2);
  }
  out_->push_back('"');
  return true;
}

bool MessagePrinter::printAny(const MessageType&, Span span) {
  const Span url = of(span, 1);
  const Span value = of(span, 2);
  if (url.begin == url.end) {
    if (value.begin < value.end) return refuse("broken Any: missing type URL");
    out_->append("{}");
    return true;
  }
  const std::string_view type_url = entries_[url.begin].bytes;
  const std::string_view bytes =
      value.begin < value.end ? entries_[value.begin].bytes : std::string_view();
  std::string why;
  const MessageType* const type = types_.resolve(type_url, &why);
  if (!type) return refuse(std::move(why));
  open('{');
  newLine();
  out_->append("\"@type\":");
  if (options_.adds_whitespace) out_->push_back(' ');
  appendJsonString(out_, type_url);
  bool is_first = false;
  if (type->known != KnownType::None) {
    comma(&is_first);
    newLine();
    out_->append("\"value\":");
    if (options_.adds_whitespace) out_->push_back(' ');
    const size_t before = out_->size();
    if (!printMessage(*type, bytes)) return false;
    if (out_->size() == before) out_->append("null");
  } else {
    if (depth_ > kMaxDepth) return refuse("allowed depth exceeded");
    ++depth_;
    Span fields{};
    if (!scan(*type, bytes, &fields) || !printFields(*type, fields, false)) return false;
    drop(fields);
    --depth_;
  }
  close('}', false);
  return true;
}

// ---- layout ----

void MessagePrinter::open(char bracket) {
  out_->push_back(bracket);
  ++indent_;
}

void MessagePrinter::close(char bracket, bool is_empty) {
  --indent_;
  if (!is_empty) newLine();
  out_->push_back(bracket);
}

void MessagePrinter::comma(bool* is_first) {
  if (!*is_first) out_->push_back(',');
  *is_first = false;
}

void MessagePrinter::newLine() {
  if (!options_.adds_whitespace) return;
  out_->push_back('\n');
  out_->append(indent_, ' ');
}

bool MessagePrinter::refuse(std::string why) {
  error_ = std::move(why);
  return false;
}

}  // namespace fairlead::transcoder
