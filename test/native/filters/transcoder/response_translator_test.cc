// Messages that become JSON.
#include "filters/transcoder/response_translator.h"

#include "test/native/support/transcoded.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using namespace std::string_literals;
using transcoder::Delimiter;
using transcoder::MessagePrinter;
using transcoder::PrintOptions;
using transcoder::ResponseTranslator;

std::string print(const std::string& bytes, const PrintOptions& options = {}) {
  const auto types = itemTypes();
  MessagePrinter printer(*types, options);
  std::string json;
  return printer.print(*types->at(0), bytes, &json) ? json : "! " + printer.error();
}

std::string frame(const std::string& message) {
  return "\0\0\0\0"s + static_cast<char>(message.size()) + message;
}

}  // namespace

TEST("Fields are written in the order of their numbers") {
  EXPECT_EQ(print("\x78\x01\x0a\x01\x61\x10\x07"), R"({"id":"a","price":"7","flag":true})");
  EXPECT_EQ(print("\x50\x01\x5a\x06\x0a\x01k\x12\x01v\x50\x02"),
            R"({"sizes":[1,2],"words":{"k":"v"}})");
  EXPECT_EQ(print("\x52\x03\x01\x02\x03"), R"({"sizes":[1,2,3]})");
}

TEST("Numbers have as many digits as they need") {
  EXPECT_EQ(print("\x49\x9a\x99\x99\x99\x99\x99\xb9\x3f"), R"({"ratio":0.1})");
  EXPECT_EQ(print("\x49\0\0\0\0\0\0\xf8\x7f"s), R"({"ratio":"NaN"})");
  EXPECT_EQ(print("\x95\x01\xcd\xcc\xcc\x3d"), R"({"share":0.1})");
  EXPECT_EQ(print("\x38\x01"), R"({"color":"DARK_BLUE"})");
  EXPECT_EQ(print("\x38\x09"), R"({"color":9})");
  EXPECT_EQ(print("\x28\x05"), R"({"number":-3})");
}

TEST("Texts are escaped where JSON or HTML would take them for something else") {
  EXPECT_EQ(print("\x0a\x07<\n\"\x7f\xe2\x80\xa8"), R"({"id":"\u003c\n\"\u007f\u2028"})");
  EXPECT_EQ(print("\x42\x02\xfb\xff"), R"({"token":"+/8="})");
}

TEST("Well-known types have forms of their own") {
  EXPECT_EQ(print("\x62\x05\x08\x01\x10\x80\x14"), R"({"at":"1970-01-01T00:00:01.000002560Z"})");
  EXPECT_EQ(print("\x8a\x01\x02\x08\x05"), R"({"took":"5s"})");
  EXPECT_EQ(print("\x82\x01\0"s), R"({"limit":0})");
  EXPECT_EQ(print("\x72\x04\x32\x02\x0a\0"s), R"({"value":[]})");
  EXPECT_EQ(print("\x72\0"s), "{}");
  EXPECT_EQ(print("\x72\x02\x08\0"s), R"({"value":null})");
  EXPECT_EQ(print("\x6a\x21\x0a\x1atype.googleapis.com/Upload\x12\x03\x0a\x01n"),
            R"({"any":{"@type":"type.googleapis.com/Upload","name":"n"}})");
  EXPECT_EQ(print("\x5a\0"s), R"({"words":{"":""}})");
}

TEST("Options say what is printed besides, and how") {
  PrintOptions options;
  options.prints_defaults = options.adds_whitespace = true;
  EXPECT_EQ(print("\x1a\0"s, options).substr(0, 49),
            "{\n \"id\": \"\",\n \"price\": \"0\",\n \"inner\": {\n  \"id\": \"");
  PrintOptions numbers;
  numbers.prints_enums_as_numbers = true;
  EXPECT_EQ(print("\x38\x01", numbers), R"({"color":1})");
}

TEST("Messages that are broken are refused, as far as it shows") {
  EXPECT_EQ(print("\x0a\x05\x61"), "! unexpected EOF");
  EXPECT_EQ(print("\x0a\x01\xff"), "! proto3 strings must be UTF-8");
  EXPECT_EQ(print("\x10\x01\x10\x02"), "! repeated entries for singular field number 2");
  EXPECT_EQ(print("\x78\x02"), "! bad value for bool: \\x02");
  EXPECT_EQ(print("\x0d\x01\x01\x01\x01"),
            "! field type 9 (number 1) does not support 32-bit fields");
  EXPECT_EQ(print("\x08\x01"), "! field type 9 (number 1) does not support varint fields");
  EXPECT_EQ(print("\xff"), "{}");
  EXPECT_EQ(print("\xa3\x06\x08\x01\xa4\x06\x78\x01"), R"({"flag":true})");
  EXPECT_EQ(print("\x6a\x03\x12\x01\x61"), "! broken Any: missing type URL");
  std::string deep;
  for (int i = 0; i < 120; ++i)
    deep = "\x1a"s + static_cast<char>(std::min<size_t>(deep.size(), 100)) + deep.substr(0, 100);
  EXPECT(print(deep).starts_with("{") || print(deep).starts_with("! "));
}

TEST("A stream is a list, lines or events, in whatever pieces it comes") {
  const auto types = itemTypes();
  const std::string frames = frame("\x0a\x01\x61") + frame("\x0a\x01\x62");
  const auto read = [&](Delimiter delimiter, size_t cut) {
    const PrintOptions options;
    ResponseTranslator translator(*types, *types->at(0), options, true, delimiter);
    std::string json;
    EXPECT(translator.add(frames.substr(0, cut), &json));
    EXPECT(translator.add(frames.substr(cut), &json));
    translator.finish(&json);
    return json;
  };
  for (size_t cut = 0; cut <= frames.size(); ++cut) {
    EXPECT_EQ(read(Delimiter::List, cut), R"([{"id":"a"},{"id":"b"}])");
    EXPECT_EQ(read(Delimiter::Lines, cut), "{\"id\":\"a\"}\n{\"id\":\"b\"}\n");
    EXPECT_EQ(read(Delimiter::Events, cut), "data: {\"id\":\"a\"}\n\ndata: {\"id\":\"b\"}\n\n");
  }
}

TEST("A frame that says that its message is compressed, or what no frame says, is refused") {
  const auto types = itemTypes();
  const PrintOptions options;
  for (const bool is_stream : {false, true}) {
    ResponseTranslator translator(*types, *types->at(0), options, is_stream, Delimiter::List);
    std::string json;
    // Its flags are known before its length.
    EXPECT(!translator.add("\x01"s, &json));
    EXPECT_EQ(translator.error(), "Unsupported gRPC frame flag: 1");
  }
  ResponseTranslator after(*types, *types->at(0), options, true, Delimiter::List);
  std::string json;
  EXPECT(!after.add(frame("\x0a\x01\x61") + "x", &json));
  EXPECT_EQ(after.error(), "Unsupported gRPC frame flag: 120");
}

}  // namespace fairlead::test
