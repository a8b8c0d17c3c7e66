#include "http/http2/hpack_decoder.h"

#include "http/http2/huffman.h"

namespace fairlead::http2 {

namespace {

// Larger than any that means something here.
constexpr uint32_t kMostNumber = 1u << 28;
constexpr size_t kMostNameBytes = UINT16_MAX;
// Nothing that is somewhere: whoever copies it need not ask.
constexpr std::string_view kNothing("", 0);

}  // namespace

HpackDecoder::Step HpackDecoder::next(Arena& arena, Field* field, bool is_wanted) {
  const Step step = read(arena, field, is_wanted);
  return step == Step::Error && wanted_ > 0 ? Step::Short : step;
}

HpackDecoder::Step HpackDecoder::read(Arena& arena, Field* field, bool is_wanted) {
  wanted_ = 0;
  while (at_ < end_) {
    begun_ = at_;
    const auto first = static_cast<uint8_t>(*at_);
    uint32_t number = 0;
    const bool is_size = (first & 0xe0) == 0x20;
    if (must_shrink_ && !is_size) return Step::Error;
    if (first & 0x80) {
      in_fields_ = true;
      if (!readNumber(7, &number) || !readIndexed(number, arena, is_wanted, field))
        return Step::Error;
      return Step::Field;
    }
    if (is_size) {
      if (in_fields_ || !readNumber(5, &number) || number > most_) return Step::Error;
      must_shrink_ = false;
      table_.setLimit(number);
      continue;
    }
    in_fields_ = true;
    const bool is_added = (first & 0x40) != 0;
    if (!readNumber(is_added ? 6 : 4, &number) || !readLiteral(number, arena, field)) {
      return Step::Error;
    }
    if (is_added) table_.add(*field);
    return Step::Field;
  }
  return Step::End;
}

// The field is to be read again, from where it begins, once there are `more` bytes from here.
bool HpackDecoder::isShort(size_t more) {
  wanted_ = static_cast<size_t>(at_ - begun_) + more;
  at_ = begun_;
  return false;
}

bool HpackDecoder::readNumber(int prefix_bits, uint32_t* number) {
  const uint32_t mask = (1u << prefix_bits) - 1;
  uint32_t value = static_cast<uint8_t>(*at_++) & mask;
  if (value == mask) {
    int shift = 0;
    uint8_t byte = 0;
    do {
      if (shift > 28) return false;
      if (at_ == end_) return isShort(1);
      byte = static_cast<uint8_t>(*at_++);
      value += static_cast<uint32_t>(byte & 0x7f) << shift;
      if (value > kMostNumber) return false;
      shift += 7;
    } while (byte & 0x80);
  }
  *number = value;
  return true;
}

bool HpackDecoder::readText(Arena& arena, std::string_view* text) {
  if (at_ == end_) return isShort(1);
  const bool is_coded = (*at_ & 0x80) != 0;
  uint32_t size = 0;
  if (!readNumber(7, &size) || size > most_text_) return false;
  if (size > static_cast<size_t>(end_ - at_)) return isShort(size);
  const std::string_view bytes(at_, size);
  at_ += size;
  if (size == 0) {
    *text = kNothing;
    return true;
  }
  if (!is_coded) {
    *text = bytes;
    return true;
  }
  char* const to = arena.allocate(mostDecodedBytes(size));
  char* const decoded_end = huffmanDecode(bytes, to);
  if (!decoded_end) return false;
  arena.shrink(decoded_end);
  *text = {to, static_cast<size_t>(decoded_end - to)};
  return true;
}

bool HpackDecoder::readIndexed(uint32_t index, Arena& arena, bool with_value, Field* field) const {
  if (index == 0) return false;
  if (index <= kStaticFields) {
    *field = staticField(index);
    return true;
  }
  const uint32_t age = index - kStaticFields - 1;
  if (age >= table_.count()) return false;
  const Field found = table_.field(age);
  field->id = found.id;
  field->name = found.id == http::HeaderId::Other ? arena.copy(found.name) : found.name;
  field->value = with_value && !found.value.empty() ? arena.copy(found.value) : kNothing;
  return true;
}

bool HpackDecoder::readLiteral(uint32_t name_index, Arena& arena, Field* field) {
  if (name_index > 0) {
    if (!readIndexed(name_index, arena, false, field)) return false;
  } else {
    if (!readText(arena, &field->name) || field->name.size() > kMostNameBytes) return false;
    field->id = http::internHeader(field->name);
  }
  return readText(arena, &field->value);
}

}  // namespace fairlead::http2
