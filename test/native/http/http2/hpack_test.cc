#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "http/http2/hpack_decoder.h"
#include "http/http2/hpack_encoder.h"
#include "http/http2/huffman.h"
#include "test/native/test.h"

namespace fairlead::http2 {

namespace {

using Step = HpackDecoder::Step;

std::string bytesOf(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

// "name=value;…", and "!" where it is undecodable.
std::string decode(HpackDecoder& decoder, std::string_view block) {
  Arena arena{4096};
  Field field;
  std::string all;
  decoder.begin(block);
  for (;;) {
    switch (decoder.next(arena, &field)) {
      case Step::Field:
        all.append(field.name).append("=").append(field.value).append(";");
        continue;
      case Step::End:
        return all;
      case Step::Short:
      case Step::Error:
        return all + "!";
    }
  }
}
std::string decodeHex(HpackDecoder& decoder, std::string_view hex) {
  return decode(decoder, bytesOf(hex));
}

using Fields = std::vector<std::pair<std::string_view, std::string_view>>;

std::string encode(HpackEncoder& encoder, const Fields& fields) {
  std::string buffer(4096, 0);
  char* to = encoder.begin(buffer.data());
  for (const auto& [name, value] : fields) {
    to = encoder.write({http::internHeader(name), name, value}, to);
  }
  buffer.resize(static_cast<size_t>(to - buffer.data()));
  return buffer;
}

std::string textOf(const Fields& fields) {
  std::string all;
  for (const auto& [name, value] : fields) {
    all.append(name).append("=").append(value).append(";");
  }
  return all;
}

}  // namespace

TEST("the examples of RFC 7541, C.3 and C.4, decode with one table from request to request") {
  HpackDecoder plain(4096);
  EXPECT_EQ(decodeHex(plain, "828684410f7777772e6578616d706c652e636f6d"),
            ":method=GET;:scheme=http;:path=/;:authority=www.example.com;");
  EXPECT_EQ(decodeHex(plain, "828684be58086e6f2d6361636865"),
            ":method=GET;:scheme=http;:path=/;:authority=www.example.com;cache-control=no-cache;");
  EXPECT_EQ(decodeHex(plain, "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565"),
            ":method=GET;:scheme=https;:path=/index.html;:authority=www.example.com;"
            "custom-key=custom-value;");
  HpackDecoder coded(4096);
  EXPECT_EQ(decodeHex(coded, "828684418cf1e3c2e5f23a6ba0ab90f4ff"),
            ":method=GET;:scheme=http;:path=/;:authority=www.example.com;");
  EXPECT_EQ(decodeHex(coded, "828684be5886a8eb10649cbf"),
            ":method=GET;:scheme=http;:path=/;:authority=www.example.com;cache-control=no-cache;");
  EXPECT_EQ(decodeHex(coded, "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf"),
            ":method=GET;:scheme=https;:path=/index.html;:authority=www.example.com;"
            "custom-key=custom-value;");
}

TEST("the examples of RFC 7541, C.6, decode with a table of 256 bytes that evicts") {
  HpackDecoder decoder(256);
  const std::string first =
      ":status=302;cache-control=private;date=Mon, 21 Oct 2013 20:13:21 GMT;"
      "location=https://www.example.com;";
  EXPECT_EQ(decodeHex(decoder,
                      "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d"
                      "29ad171863c78f0b97c8e9ae82ae43d3"),
            first);
  EXPECT_EQ(decodeHex(decoder, "4883640effc1c0bf"),
            ":status=307;cache-control=private;date=Mon, 21 Oct 2013 20:13:21 GMT;"
            "location=https://www.example.com;");
  EXPECT_EQ(decodeHex(decoder,
                      "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821d"
                      "d7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b106"
                      "3d5007"),
            ":status=200;cache-control=private;date=Mon, 21 Oct 2013 20:13:22 GMT;"
            "location=https://www.example.com;content-encoding=gzip;"
            "set-cookie=foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1;");
}

TEST("what is no HPACK is refused, wherever it ends") {
  const auto isRefused = [](std::string_view hex) {
    HpackDecoder decoder(4096);
    return decodeHex(decoder, hex).ends_with('!');
  };
  EXPECT(isRefused("80"));                  // No field has the number 0.
  EXPECT(isRefused("be"));                  // None is in the table yet.
  EXPECT(isRefused("7fffffffffffffff0f"));  // A number without end.
  EXPECT(isRefused("ffffffffff7f"));
  EXPECT(isRefused("4005616263"));  // A name that is cut off.
  EXPECT(isRefused("400161"));      // No value.
  EXPECT(isRefused("40"));
  EXPECT(isRefused("3fe21f"));            // A table larger than was allowed: 4097 bytes.
  EXPECT(isRefused("8220"));              // A size after a field.
  EXPECT(isRefused("00016182ffff"));      // Filling longer than a byte.
  EXPECT(isRefused("00016184ffffffff"));  // The end of string itself.
  EXPECT(isRefused("0001618118"));        // Filling that is no ones.
  EXPECT(!isRefused("3fe11f82"));         // 4096 bytes.
  EXPECT(!isRefused("203fe11f82"));       // Two of them.
}

TEST("every byte goes through the Huffman code and back, alone and beside all others") {
  std::string all;
  for (int first = 0; first < 256; ++first) {
    const std::string one(1, static_cast<char>(first));
    all += one + "a" + one;
    std::string coded(huffmanBytes(one), 0);
    EXPECT(huffmanEncode(one, coded.data()) == coded.data() + coded.size());
    char decoded[8];
    EXPECT(huffmanDecode(coded, decoded) == decoded + 1);
    EXPECT_EQ(decoded[0], one[0]);
  }
  std::string coded(huffmanBytes(all), 0);
  huffmanEncode(all, coded.data());
  std::string decoded(mostDecodedBytes(coded.size()), 0);
  char* const end = huffmanDecode(coded, decoded.data());
  FL_CHECK(end != nullptr);
  decoded.resize(static_cast<size_t>(end - decoded.data()));
  EXPECT(decoded == all);
}

TEST("what an encoder writes a decoder reads, with tables that grow, evict and shrink") {
  HpackEncoder encoder(true);
  HpackDecoder decoder(4096);
  size_t first_size = 0;
  for (int round = 0; round < 200; ++round) {
    const std::string number = std::to_string(round);
    const std::string long_value(static_cast<size_t>(round), 'v');
    const Fields fields = {{"server", "fairlead"},
                           {"content-type", "application/grpc"},
                           {"content-length", number},
                           {"x-round", number},
                           {"x-long", long_value},
                           {"authorization", "secret"},
                           {"x-empty", ""}};
    const std::string block = encode(encoder, fields);
    EXPECT_EQ(decode(decoder, block), textOf(fields));
    if (round == 0) first_size = block.size();
    if (round == 1) EXPECT(block.size() < first_size / 2);
    if (round == 100) encoder.setPeerLimit(200);
    if (round == 150) {
      encoder.setPeerLimit(0);
      encoder.setPeerLimit(4096);
    }
  }
}

TEST("a value that is empty is somewhere all the same") {
  HpackDecoder decoder;
  for (const std::string_view block :
       {std::string_view("\x60\x00", 2), std::string_view("\xbe"), std::string_view("\x60\x80")}) {
    Arena arena{1024};
    Field field;
    decoder.begin(block);
    EXPECT(decoder.next(arena, &field) == HpackDecoder::Step::Field);
    EXPECT_EQ(field.name, std::string_view("cookie"));
    EXPECT(field.value.empty() && field.value.data() != nullptr);
  }
}

TEST("a block that comes in pieces is the same block, and only an error is one") {
  const std::string block = bytesOf(
      "3f61828684418cf1e3c2e5f23a6ba0ab90f4ff400a637573746f6d2d6b65790d637573746f6d2d686561646572b"
      "e");
  HpackDecoder whole;
  const std::string all = decode(whole, block);
  for (size_t cut = 0; cut <= block.size(); ++cut) {
    HpackDecoder decoder;
    Arena arena{4096};
    Field field;
    std::string told;
    const auto read = [&] {
      Step step;
      while ((step = decoder.next(arena, &field)) == Step::Field) {
        told.append(field.name).append("=").append(field.value).append(";");
      }
      return step;
    };
    const std::string first = block.substr(0, cut);
    decoder.begin(first);
    const Step step = read();
    EXPECT(step != Step::Error);
    const std::string rest =
        (step == Step::Short ? std::string(decoder.rest()) : "") + block.substr(cut);
    if (step == Step::Short) EXPECT(decoder.wanted() > decoder.rest().size());
    EXPECT(step != Step::Short || decoder.wanted() <= rest.size());
    decoder.resume(rest);
    EXPECT(read() == Step::End);
    EXPECT_EQ(told, all);
  }
}

TEST("less than a table has asks for a change of its size, with which the next block begins") {
  HpackDecoder decoder;
  Arena arena{1024};
  Field field;
  const std::string added(
      "\x40\x01"
      "a"
      "\x01"
      "b",
      5);
  decoder.setMost(128);
  decoder.begin(added);
  EXPECT(decoder.next(arena, &field) == HpackDecoder::Step::Error);
  const std::string too_large = "\x3f\xe1\x1f" + added;
  decoder.begin(too_large);
  EXPECT(decoder.next(arena, &field) == HpackDecoder::Step::Error);
  const std::string as_asked = "\x3f\x61" + added;
  decoder.begin(as_asked);
  EXPECT(decoder.next(arena, &field) == HpackDecoder::Step::Field);
  EXPECT_EQ(field.name, std::string_view("a"));
  EXPECT(decoder.next(arena, &field) == HpackDecoder::Step::End);
  decoder.setMost(8192);
  decoder.begin("\xbe");
  EXPECT(decoder.next(arena, &field) == HpackDecoder::Step::Field);
}

TEST("a table without fields owns nothing, and one with them no more than they need") {
  DynamicTable table(4096);
  for (int i = 0; i < 10'000; ++i) {
    const std::string value(static_cast<size_t>(i % 300), 'x');
    table.add({http::HeaderId::Other, "x-name", value});
    EXPECT_EQ(table.field(0).value.size(), value.size());
  }
  EXPECT(table.count() > 10);
  const Field oldest = table.field(table.count() - 1);
  EXPECT_EQ(oldest.name, "x-name");
  table.add({http::HeaderId::Other, "x-huge", std::string(5000, 'x')});
  EXPECT_EQ(table.count(), 0u);
}

}  // namespace fairlead::http2
