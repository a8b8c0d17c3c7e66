#include "http/http1/chunk_decoder.h"

#include <string>

#include "test/native/test.h"

namespace fairlead::http1 {

namespace {

using Step = ChunkDecoder::Step;

// What comes of `input` in pieces of `piece` bytes: "body|", then "…" (goes on), "!" (an error), or
// what follows the last chunk.
std::string decode(std::string_view input, size_t piece) {
  ChunkDecoder decoder;
  std::string body;
  while (!input.empty()) {
    std::string_view part = input.substr(0, piece);
    while (!part.empty()) {
      const ChunkDecoder::Result step = decoder.next(part);
      part.remove_prefix(step.consumed);
      input.remove_prefix(step.consumed);
      if (step.step == Step::Data) {
        body += step.data;
      } else if (step.step == Step::Trailers) {
        return body + "|" + std::string(input);
      } else if (step.step == Step::Error) {
        return body + "|!";
      }
    }
  }
  return body + "|…";
}

void expectDecoded(std::string_view input, std::string_view wanted) {
  EXPECT_EQ(decode(input, input.size()), wanted);
  for (size_t piece = 1; piece < 8; ++piece) EXPECT_EQ(decode(input, piece), wanted);
}

}  // namespace

TEST("chunks give their data, up to the line of the last one") {
  expectDecoded("2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n", "abcde|\r\n");
  expectDecoded("A\r\n0123456789\r\n00\r\nx: y\r\n\r\n", "0123456789|x: y\r\n\r\n");
  expectDecoded("2\r\nab\r\n", "ab|…");
  expectDecoded("000000000000000000000000002\r\nab\r\n0\r\n", "ab|");
}

TEST("extensions are skipped, and so are blanks behind a size") {
  expectDecoded("2;ext=1\r\nab\r\n0;last\r\n", "ab|");
  expectDecoded("2;a=\"\tb c\xe9\" ; d\r\nab\r\n0;\r\n", "ab|");
  expectDecoded("2 \r\nab\r\n2\t;x\r\ncd\r\n0  \t \r\n", "abcd|");
}

TEST("a control byte in an extension is an error") {
  for (const char bad : {'\0', '\x01', '\x08', '\x1f', '\x7f'}) {
    expectDecoded("2;a" + std::string(1, bad) + "b\r\nab\r\n", "|!");
    expectDecoded("2 " + std::string(1, bad) + "\r\nab\r\n", "|!");
  }
}

TEST("bytes behind a size that are no extension are an error") {
  for (const char* input :
       {"2 junk\r\nab\r\n", "2 2\r\nab\r\n", "2\tx;y\r\nab\r\n", "2,\r\nab\r\n"}) {
    expectDecoded(input, "|!");
  }
}

TEST("bytes between a chunk and its line end are an error") {
  expectDecoded("2\r\nabc\r\n0\r\n", "ab|!");
  expectDecoded("2\r\nab \r\n0\r\n", "ab|!");
  expectDecoded("2\r\nab0\r\n\r\n", "ab|!");
}

TEST("a size that is no hexadecimal number is an error") {
  for (const char* input : {"zz\r\n", "\r\n", " 2\r\n", "-2\r\n", "0x2\r\n", "2x\r\n", ";\r\n"}) {
    expectDecoded(input, "|!");
  }
}

TEST("a size of more than 64 bits is an error") {
  expectDecoded("FFFFFFFFFFFFFFFF\r\nab", "ab|…");
  expectDecoded("FFFFFFFFFFFFFFFFF\r\n", "|!");
}

TEST("a bare LF or CR is an error wherever it stands") {
  expectDecoded("2\nab", "|!");
  expectDecoded("2\r\rab", "|!");
  expectDecoded("2;a\rb\r\n", "|!");
  expectDecoded("2;a\nb\r\n", "|!");
  expectDecoded("2\r\nab\n", "ab|!");
  expectDecoded("2\r\nab\r0", "ab|!");
}

TEST("a chunk may have 16 KiB that are no data, and the next one again") {
  const std::string some(16 * 1024, 'e');
  expectDecoded("2;" + some.substr(1) + "\r\nab\r\n2;" + some.substr(1) + "\r\ncd\r\n0\r\n",
                "abcd|");
  expectDecoded("2;" + some + some + "\r\nab\r\n", "|!");
  expectDecoded("2" + some + "\r\n", "|!");
  expectDecoded("2" + std::string(17 * 1024, ' ') + "\r\n", "|!");
  expectDecoded(std::string(17 * 1024, '0') + "\r\n", "|!");
}

TEST("data that was taken past the decoder is skipped") {
  ChunkDecoder decoder;
  EXPECT_EQ(decoder.next("a\r\n").step, Step::NeedMore);
  EXPECT_EQ(decoder.chunkRemaining(), 10u);
  decoder.skipData(8);
  const ChunkDecoder::Result step = decoder.next("yz\r\n0\r\n");
  EXPECT_EQ(step.data, "yz");
  EXPECT_EQ(decoder.next("\r\n0\r\n").step, Step::Trailers);
}

}  // namespace fairlead::http1
