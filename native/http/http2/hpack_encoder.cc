#include "http/http2/hpack_encoder.h"

#include <algorithm>
#include <cstring>

#include "http/http2/huffman.h"

namespace fairlead::http2 {

using http::HeaderId;

namespace {

// How a field is written that no table has.
enum class Form : uint8_t { Added = 0x40, Plain = 0x00, Never = 0x10 };

struct Choice {
  Form form;
  // The table may have its name, and so the whole of it.
  bool may_be_known;
};

// What changes from message to message would only push out what does not; what is secret is not to
// be guessed from how well it compresses (RFC 7541, 7.1).
Choice choose(const Field& field, uint32_t table_limit) {
  switch (field.id) {
    case HeaderId::Authorization:
      return {Form::Never, false};
    case HeaderId::Cookie:
      if (field.value.size() < 20) return {Form::Never, false};
      break;
    case HeaderId::ContentLength:
    case HeaderId::Etag:
    case HeaderId::IfModifiedSince:
    case HeaderId::IfNoneMatch:
    case HeaderId::LastModified:
    case HeaderId::Location:
    case HeaderId::Age:
    case HeaderId::XClientTraceId:
    case HeaderId::XEnvoyOriginalPath:
    case HeaderId::XEnvoyUpstreamServiceTime:
    case HeaderId::XRequestId:
      return {Form::Plain, false};
    case HeaderId::Other:
      if (field.name == ":path" || field.name == "set-cookie" || field.name == "traceparent") {
        return {Form::Plain, false};
      }
      break;
    default:
      break;
  }
  const size_t bytes = field.value.size() + field.name.size() + DynamicTable::kFieldOverhead;
  return {bytes <= table_limit / 4 ? Form::Added : Form::Plain, true};
}

char* writeNumber(uint32_t number, int prefix_bits, uint8_t form, char* to) {
  const uint32_t mask = (1u << prefix_bits) - 1;
  if (number < mask) {
    *to++ = static_cast<char>(form | number);
    return to;
  }
  *to++ = static_cast<char>(form | mask);
  number -= mask;
  while (number >= 0x80) {
    *to++ = static_cast<char>((number & 0x7f) | 0x80);
    number >>= 7;
  }
  *to++ = static_cast<char>(number);
  return to;
}

char* writePlain(std::string_view text, char* to) {
  to = writeNumber(static_cast<uint32_t>(text.size()), 7, 0, to);
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

}  // namespace

void HpackEncoder::setPeerLimit(uint32_t bytes) {
  const uint32_t limit = std::min(bytes, kMostTableBytes);
  if (limit == table_.limit()) return;
  smallest_ = limit_changed_ ? std::min(smallest_, limit) : limit;
  limit_changed_ = true;
  table_.setLimit(limit);
}

char* HpackEncoder::begin(char* to) {
  if (!limit_changed_) return to;
  limit_changed_ = false;
  if (smallest_ < table_.limit()) to = writeNumber(smallest_, 5, 0x20, to);
  return writeNumber(table_.limit(), 5, 0x20, to);
}

// Coding pays where the peer keeps it for the messages to come.
char* HpackEncoder::writeText(std::string_view text, char* to) const {
  const size_t coded = with_huffman_ ? huffmanBytes(text) : text.size();
  if (coded >= text.size()) return writePlain(text, to);
  to = writeNumber(static_cast<uint32_t>(coded), 7, 0x80, to);
  return huffmanEncode(text, to);
}

char* HpackEncoder::writeIndexed(uint32_t index, char* to) {
  return writeNumber(index, 7, 0x80, to);
}

char* HpackEncoder::write(const Field& field, char* to) {
  return write(field, staticIndexOf(field.id), to);
}

char* HpackEncoder::writeStatic(uint32_t name_index, std::string_view value, char* to) {
  const Field& named = staticField(name_index);
  return write({named.id, named.name, value}, name_index, to);
}

// What one message has, the next one mostly has as well.
DynamicTable::Found HpackEncoder::find(const Field& field) {
  uint32_t& latest = latest_[DynamicTable::markOf(field) % kLatest];
  if (table_.has(latest, field)) return {.same = table_.ageOf(latest), .name = -1};
  const DynamicTable::Found found = table_.find(field);
  if (found.same >= 0) latest = table_.numberOf(found.same);
  return found;
}

char* HpackEncoder::write(const Field& field, uint32_t name_index, char* to) {
  const auto [form, may_be_known] = choose(field, table_.limit());
  if (may_be_known) {
    const DynamicTable::Found found = find(field);
    if (found.same >= 0) {
      return writeIndexed(kStaticFields + 1 + static_cast<uint32_t>(found.same), to);
    }
    if (name_index == 0 && found.name >= 0) {
      name_index = kStaticFields + 1 + static_cast<uint32_t>(found.name);
    }
  }
  const bool is_added = form == Form::Added;
  to = writeNumber(name_index, is_added ? 6 : 4, static_cast<uint8_t>(form), to);
  if (name_index == 0) to = is_added ? writeText(field.name, to) : writePlain(field.name, to);
  to = is_added ? writeText(field.value, to) : writePlain(field.value, to);
  if (is_added) table_.add(field);
  return to;
}

}  // namespace fairlead::http2
