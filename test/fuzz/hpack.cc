// Any bytes given to the HPACK decoder, as two blocks of one connection: it ends, what it says is
// of the bytes, its tables or its arena, and what it takes for fields is the same once our encoder
// has written it and another decoder has read that. Any bytes go through the Huffman code and back.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "http/http2/hpack_decoder.h"
#include "http/http2/hpack_encoder.h"
#include "http/http2/huffman.h"

using fairlead::Arena;
using namespace fairlead::http2;

namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

// False: it is no block.
bool decode(HpackDecoder& decoder, std::string_view block, Fields* fields) {
  Arena arena{1024};
  Field field;
  decoder.begin(block);
  for (;;) {
    switch (decoder.next(arena, &field)) {
      case HpackDecoder::Step::Field:
        fields->emplace_back(field.name, field.value);
        continue;
      case HpackDecoder::Step::End:
        return true;
      case HpackDecoder::Step::Short:
      case HpackDecoder::Step::Error:
        return false;
    }
  }
}

void checkEncoder(HpackEncoder& encoder, HpackDecoder& decoder, const Fields& fields) {
  size_t most = HpackEncoder::kMostBeginBytes;
  for (const auto& [name, value] : fields) {
    if (name.empty()) return;
    most += HpackEncoder::mostBytes(name.size(), value.size());
  }
  std::string block(most, 0);
  char* to = encoder.begin(block.data());
  for (const auto& [name, value] : fields) {
    to = encoder.write({fairlead::http::internHeader(name), name, value}, to);
    FL_CHECK(to <= block.data() + block.size());
  }
  block.resize(static_cast<size_t>(to - block.data()));
  Fields again;
  FL_CHECK(decode(decoder, block, &again));
  FL_CHECK(again == fields);
}

void checkHuffman(std::string_view text) {
  std::string coded(huffmanBytes(text), 0);
  FL_CHECK(huffmanEncode(text, coded.data()) == coded.data() + coded.size());
  std::string decoded(mostDecodedBytes(coded.size()), 0);
  char* const end = huffmanDecode(coded, decoded.data());
  FL_CHECK(end != nullptr);
  decoded.resize(static_cast<size_t>(end - decoded.data()));
  FL_CHECK(decoded == text);
  // Taken for a code: it has one text, or none.
  std::string any(mostDecodedBytes(text.size()), 0);
  char* const any_end = huffmanDecode(text, any.data());
  if (!any_end) return;
  any.resize(static_cast<size_t>(any_end - any.data()));
  FL_CHECK(huffmanBytes(any) == text.size());
}

}  // namespace

std::vector<std::string> fuzzSeeds() {
  HpackEncoder encoder(true);
  std::vector<std::string> seeds;
  for (const std::string_view value : {"a", "application/grpc", "Mon, 21 Oct 2013 20:13:21 GMT"}) {
    std::string block(256, 0);
    char* to = encoder.begin(block.data());
    to = encoder.write({fairlead::http::HeaderId::Other, "x-custom", value}, to);
    to = encoder.write({fairlead::http::HeaderId::ContentType, "content-type", value}, to);
    to = encoder.writeStatic(HpackEncoder::kAuthority, value, to);
    block.resize(static_cast<size_t>(to - block.data()));
    seeds.push_back(block);
  }
  seeds.push_back("\x82\x86\x84\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff");
  seeds.push_back("\x3f\xe1\x1f\x40\x01\x61\x01\x62\xbe\xbf");
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  HpackDecoder decoder(512);
  HpackEncoder encoder(size % 2 == 0);
  HpackDecoder mirror(4096);
  const size_t cut = size / 2;
  for (const std::string_view block : {input.substr(0, cut), input.substr(cut)}) {
    Fields fields;
    const bool is_block = decode(decoder, block, &fields);
    checkEncoder(encoder, mirror, fields);
    if (!is_block) break;
    encoder.setPeerLimit(static_cast<uint32_t>(block.size()));
  }
  checkHuffman(input);
  return 0;
}
