#include "http/http2/huffman.h"

#include <array>

namespace fairlead::http2 {

namespace {

constexpr int kSymbols = 257;
constexpr int kEndOfString = 256;
constexpr int kMostBits = 30;

// In bits, by symbol; the last one is that of EOS.
constexpr uint8_t kLengths[kSymbols] = {
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28,  //
    28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28, 6,  10, 10, 12, 13, 6,  8,  11,  //
    10, 10, 8,  11, 8,  6,  6,  6,  5,  5,  5,  6,  6,  6,  6,  6,  6,  6,  7,  8,   //
    15, 6,  12, 10, 13, 6,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,   //
    7,  7,  7,  7,  7,  7,  7,  7,  8,  7,  8,  13, 19, 13, 14, 6,  15, 5,  6,  5,   //
    6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,  6,  7,  6,  5,  5,  6,  7,  7,   //
    7,  7,  7,  15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23,  //
    23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,  //
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21,  //
    23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25,  //
    26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26,  //
    28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,  //
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30};

// Of a canonical code: symbols in the order of their codes, and for each length its first code, how
// many there are, and where their symbols begin.
struct Code {
  std::array<uint32_t, kSymbols> codes{};
  std::array<uint16_t, kSymbols> symbols{};
  std::array<uint32_t, kMostBits + 1> first{};
  std::array<uint16_t, kMostBits + 1> count{};
  std::array<uint16_t, kMostBits + 1> begin{};
};

constexpr Code kCode = [] {
  Code code;
  uint32_t next = 0;
  uint16_t place = 0;
  for (int bits = 1; bits <= kMostBits; ++bits) {
    next <<= 1;
    code.first[static_cast<size_t>(bits)] = next;
    code.begin[static_cast<size_t>(bits)] = place;
    for (int symbol = 0; symbol < kSymbols; ++symbol) {
      if (kLengths[symbol] != bits) continue;
      code.codes[static_cast<size_t>(symbol)] = next++;
      code.symbols[place++] = static_cast<uint16_t>(symbol);
      ++code.count[static_cast<size_t>(bits)];
    }
  }
  return code;
}();

// What most text is made of is found by its first bits in one look; 0 of a length: it is longer.
constexpr int kLookBits = 10;
struct Look {
  uint8_t symbol;
  uint8_t bits;
};
constexpr std::array<Look, 1 << kLookBits> kLook = [] {
  std::array<Look, 1 << kLookBits> look{};
  for (size_t symbol = 0; symbol < kEndOfString; ++symbol) {
    const int bits = kLengths[symbol];
    if (bits > kLookBits) continue;
    const size_t first = size_t{kCode.codes[symbol]} << (kLookBits - bits);
    for (size_t i = 0; i < size_t{1} << (kLookBits - bits); ++i) {
      look[first + i] = {static_cast<uint8_t>(symbol), static_cast<uint8_t>(bits)};
    }
  }
  return look;
}();

}  // namespace

size_t huffmanBytes(std::string_view text) {
  size_t bits = 0;
  for (const char c : text) bits += kLengths[static_cast<uint8_t>(c)];
  return (bits + 7) / 8;
}

char* huffmanEncode(std::string_view text, char* to) {
  uint64_t pending = 0;
  int pending_bits = 0;
  for (const char c : text) {
    const auto symbol = static_cast<uint8_t>(c);
    pending = pending << kLengths[symbol] | kCode.codes[symbol];
    pending_bits += kLengths[symbol];
    while (pending_bits >= 8) {
      pending_bits -= 8;
      *to++ = static_cast<char>(pending >> pending_bits);
    }
  }
  if (pending_bits > 0) {
    // The rest of a byte is filled with the first bits of EOS, which are ones.
    const int fill = 8 - pending_bits;
    *to++ = static_cast<char>(pending << fill | ((1u << fill) - 1));
  }
  return to;
}

namespace {

// Bits of a code that are not decoded yet.
struct Pending {
  uint64_t bits = 0;
  int count = 0;

  // The next ones; behind the last of them come ones, as if the filling went on.
  uint32_t peek(int wanted) const {
    const uint64_t mask = (uint64_t{1} << wanted) - 1;
    if (count >= wanted) return static_cast<uint32_t>(bits >> (count - wanted) & mask);
    const int missing = wanted - count;
    return static_cast<uint32_t>((bits << missing | ((uint64_t{1} << missing) - 1)) & mask);
  }
};

// The symbol of a longer code, whose length is taken off; negative: none is here whole.
int takeLong(Pending& pending) {
  for (int bits = kLookBits + 1; bits <= kMostBits && bits <= pending.count; ++bits) {
    const auto length = static_cast<size_t>(bits);
    const uint32_t offset = pending.peek(bits) - kCode.first[length];
    if (offset >= kCode.count[length]) continue;
    pending.count -= bits;
    return kCode.symbols[kCode.begin[length] + offset];
  }
  return -1;
}

}  // namespace

char* huffmanDecode(std::string_view code, char* to) {
  Pending pending;
  size_t at = 0;
  for (;;) {
    while (pending.count <= 56 && at < code.size()) {
      pending.bits = pending.bits << 8 | static_cast<uint8_t>(code[at++]);
      pending.count += 8;
    }
    const Look look = kLook[pending.peek(kLookBits)];
    if (look.bits > 0 && look.bits <= pending.count) {
      *to++ = static_cast<char>(look.symbol);
      pending.count -= look.bits;
      continue;
    }
    const int symbol = look.bits > 0 ? -1 : takeLong(pending);
    if (symbol == kEndOfString) return nullptr;
    if (symbol >= 0) {
      *to++ = static_cast<char>(symbol);
      continue;
    }
    // What is left fills the last byte, with ones.
    const bool is_filling = pending.count < 8 && pending.peek(8) == 0xff;
    return is_filling ? to : nullptr;
  }
}

}  // namespace fairlead::http2
