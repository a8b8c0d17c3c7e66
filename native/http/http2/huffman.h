// The Huffman code of HPACK (RFC 7541, appendix B). It is canonical: the lengths say all. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead::http2 {

// What `text` takes when it is encoded.
size_t huffmanBytes(std::string_view text);
// Returns the end of what was written.
char* huffmanEncode(std::string_view text, char* to);

// No text is longer than this many times its code, a byte's remainder apart.
constexpr size_t mostDecodedBytes(size_t code_bytes) { return code_bytes * 8 / 5; }
// Returns the end of what was written: at most mostDecodedBytes(); null: it is no such code.
char* huffmanDecode(std::string_view code, char* to);

}  // namespace fairlead::http2
