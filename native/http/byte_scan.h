// The three loops that reading a head spends its time in, twice: byte by byte, and 16 bytes at
// once. Both give the same answers (test/native/http/http1/scanner_test.cc, test/fuzz). Nothing is
// read or written outside [at, end).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE4_2__
#include <immintrin.h>
#endif

namespace fairlead::http {

// The lower-case form of a byte that a token (RFC 9110 §5.6.2) may have; 0 for any other.
constexpr std::array<char, 256> kTokenLower = [] {
  std::array<char, 256> table = {};
  for (int c = '0'; c <= '9'; ++c) table[static_cast<size_t>(c)] = static_cast<char>(c);
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<size_t>(c)] = static_cast<char>(c);
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<size_t>(c)] = static_cast<char>(c + 32);
  for (const char* c = "!#$%&'*+-.^_`|~"; *c != 0; ++c) table[static_cast<size_t>(*c)] = *c;
  return table;
}();

constexpr bool isTokenByte(char c) { return kTokenLower[static_cast<uint8_t>(c)] != 0; }

// What a header's value may hold; bytes from 0x80 on pass (RFC 9110 §5.5).
constexpr bool isValueByte(char c) {
  const auto byte = static_cast<uint8_t>(c);
  return (byte >= 0x20 && byte != 0x7f) || byte == '\t';
}
constexpr bool isTargetByte(char c) {
  const auto byte = static_cast<uint8_t>(c);
  return byte > 0x20 && byte < 0x7f;
}

struct ScalarBytes {
  // A name that was read. Its lower-case form is stored by commit(), once what follows it was read:
  // a load that overlaps a fresh store would wait for it.
  struct Token {
    char* end;
    void commit(char*) const {}
  };
  static Token readToken(char* at, char* end) {
    char lower;
    while (at < end && (lower = kTokenLower[static_cast<uint8_t>(*at)]) != 0) *at++ = lower;
    return {at};
  }
  // To the first byte that is no value's; a tab stops it too (the caller goes on behind it).
  static char* skipValue(char* at, const char* end) {
    while (at < end && isValueByte(*at)) ++at;
    return at;
  }
  static char* skipTarget(char* at, const char* end) {
    while (at < end && isTargetByte(*at)) ++at;
    return at;
  }
};

#ifdef __SSE4_2__

class VectorBytes {
 public:
  struct Token {
    char* end;
    // Of the last group, which is not stored yet: its first bytes, in lower case.
    __m128i lower;
    uint8_t pending;  // How many; 0: all is stored.

    void commit(char*) const {
      // Whole groups, so that what reads the name back finds it in one store.
      if (pending > 8) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(end - pending), lower);
      } else if (pending > 0) {
        _mm_storel_epi64(reinterpret_cast<__m128i*>(end - pending), lower);
      }
    }
  };

  static Token readToken(char* at, char* end) {
    while (end - at >= 16) {
      const __m128i bytes = load(at);
      const __m128i lower = _mm_or_si128(bytes, upperBits(bytes));
      const unsigned others = nonTokens(bytes);
      if (others == 0) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(at), lower);
        at += 16;
        continue;
      }
      const int size = __builtin_ctz(others);
      // Bytes behind the name stay as they are.
      const __m128i mask = load(kPrefix + 16 - size);
      return {at + size, _mm_blendv_epi8(bytes, lower, mask), static_cast<uint8_t>(size)};
    }
    return {ScalarBytes::readToken(at, end).end, _mm_setzero_si128(), 0};
  }

  static char* skipValue(char* at, const char* end) {
    const __m128i lowest = _mm_set1_epi8(0x1f);
    const __m128i deleted = _mm_set1_epi8(0x7f);
    const __m128i tab = _mm_set1_epi8('\t');
    while (end - at >= 16) {
      const __m128i bytes = load(at);
      // Unsigned: a byte is at most 0x1f exactly when the larger of both is 0x1f.
      const __m128i control = _mm_cmpeq_epi8(_mm_max_epu8(bytes, lowest), lowest);
      const __m128i bad = _mm_or_si128(_mm_andnot_si128(_mm_cmpeq_epi8(bytes, tab), control),
                                       _mm_cmpeq_epi8(bytes, deleted));
      const int mask = _mm_movemask_epi8(bad);
      if (mask != 0) return at + __builtin_ctz(static_cast<unsigned>(mask));
      at += 16;
    }
    return ScalarBytes::skipValue(at, end);
  }

  static char* skipTarget(char* at, const char* end) {
    const __m128i blank = _mm_set1_epi8(0x20);
    const __m128i deleted = _mm_set1_epi8(0x7f);
    while (end - at >= 16) {
      const __m128i bytes = load(at);
      // Signed: bytes from 0x80 on are negative, and so below a blank.
      const __m128i good =
          _mm_and_si128(_mm_cmpgt_epi8(bytes, blank), _mm_cmplt_epi8(bytes, deleted));
      const int mask = _mm_movemask_epi8(good) ^ 0xffff;
      if (mask != 0) return at + __builtin_ctz(static_cast<unsigned>(mask));
      at += 16;
    }
    return ScalarBytes::skipTarget(at, end);
  }

 private:
  static __m128i load(const void* at) { return _mm_loadu_si128(static_cast<const __m128i*>(at)); }

  static __m128i upperBits(__m128i bytes) {
    const __m128i upper = _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8('A' - 1)),
                                        _mm_cmplt_epi8(bytes, _mm_set1_epi8('Z' + 1)));
    return _mm_and_si128(upper, _mm_set1_epi8(0x20));
  }

  // A bit for each byte that is no token's. A byte's low half chooses a row of the ASCII table, its
  // high half one bit of that row; high halves from 8 on have none.
  static unsigned nonTokens(__m128i bytes) {
    const __m128i half = _mm_set1_epi8(0x0f);
    const __m128i row = _mm_shuffle_epi8(load(kRows.data()), _mm_and_si128(bytes, half));
    const __m128i high = _mm_and_si128(_mm_srli_epi16(bytes, 4), half);
    const __m128i bits = _mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m128i bit = _mm_shuffle_epi8(bits, high);
    const __m128i other = _mm_cmpeq_epi8(_mm_and_si128(row, bit), _mm_setzero_si128());
    return static_cast<unsigned>(_mm_movemask_epi8(other));
  }

  static constexpr std::array<uint8_t, 16> kRows = [] {
    std::array<uint8_t, 16> rows = {};
    for (size_t c = 0; c < 128; ++c) {
      if (kTokenLower[c] != 0) rows[c & 15] = static_cast<uint8_t>(rows[c & 15] | 1u << (c >> 4));
    }
    return rows;
  }();
  // Read from 16 - n on: n bytes of ones, then zeros.
  alignas(16) static constexpr uint8_t kPrefix[32] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                                      0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                                      0xff, 0xff, 0xff, 0xff};
};

using WidestBytes = VectorBytes;
#else
using WidestBytes = ScalarBytes;
#endif

}  // namespace fairlead::http
