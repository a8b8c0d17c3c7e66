// JSON that becomes messages.
#include "filters/transcoder/request_translator.h"

#include "test/native/support/transcoded.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using namespace std::string_literals;
using transcoder::Binding;
using transcoder::RequestTranslator;

struct Options {
  bool is_stream = false;
  bool refuses_collisions = false;
  std::vector<std::string_view> body_path = {};
  // Fields of Item by their names.
  std::vector<std::pair<std::vector<std::string>, std::string>> bindings = {};
};

struct Translated {
  std::string frames;
  std::string error;
};

RequestTranslator::Settings settingsOf(const transcoder::TypeTable& types, const Options& options) {
  std::vector<Binding> bindings;
  for (const auto& [path, value] : options.bindings) {
    Binding binding;
    const transcoder::MessageType* type = types.at(0);
    for (const std::string& name : path) {
      binding.path.push_back(type->find(name));
      type = binding.path.back()->message;
    }
    binding.value = value;
    bindings.push_back(std::move(binding));
  }
  return {types,
          *types.at(0),
          options.is_stream,
          false,
          options.refuses_collisions,
          options.body_path,
          std::move(bindings)};
}

Translated translate(const std::vector<std::string>& pieces, const Options& options = {}) {
  const auto types = itemTypes();
  RequestTranslator translator(settingsOf(*types, options));
  Translated result;
  bool is_fine = true;
  for (const std::string& piece : pieces) {
    is_fine = is_fine && translator.add(piece, &result.frames);
  }
  if (!is_fine || !translator.finish(&result.frames)) result.error = translator.error();
  return result;
}

// Without its frame.
std::string messageOf(const std::string& json, const Options& options = {}) {
  const Translated result = translate({json}, options);
  return result.error.empty() ? result.frames.substr(5) : result.error;
}

std::string errorOf(const std::string& json, const Options& options = {}) {
  return translate({json}, options).error;
}

}  // namespace

TEST("A message is framed, with what is within it, whatever pieces its JSON comes in") {
  const std::string json =
      R"({"id":"a","inner":{"price":"7","sizes":[1,-1]},"flag":true,"words":{"k":"v"}})";
  const std::string message =
      "\x0a\x01\x61\x1a\x0f\x10\x07\x50\x01\x50\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
      "\x78\x01\x5a\x06\x0a\x01k\x12\x01v"s;
  const std::string frame = "\0\0\0\0"s + static_cast<char>(message.size()) + message;
  EXPECT_EQ(translate({json}).frames, frame);
  for (size_t cut = 1; cut < json.size(); ++cut) {
    EXPECT_EQ(translate({json.substr(0, cut), json.substr(cut)}).frames, frame);
  }
}

TEST("A body of nothing is an empty message, and unknown members are left out") {
  EXPECT_EQ(translate({}).frames, "\0\0\0\0\0"s);
  EXPECT_EQ(messageOf(R"({"lost":{"a":[1,{"b":null}]},"flag":true})"), "\x78\x01");
}

TEST("Values are read as their fields have them") {
  EXPECT_EQ(messageOf(R"({"price":"-5"})"), "\x10\xfb\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  EXPECT_EQ(messageOf(R"({"number":-3})"), "\x28\x05");
  EXPECT_EQ(messageOf(R"({"color":"DARK_BLUE"})"), "\x38\x01");
  EXPECT_EQ(messageOf(R"({"color":9})"), "\x38\x09");
  EXPECT_EQ(messageOf(R"({"token":"-_8"})"), "\x42\x02\xfb\xff");
  EXPECT_EQ(messageOf(R"({"token":"+/8="})"), "\x42\x02\xfb\xff");
  EXPECT_EQ(messageOf(R"({"ratio":"-Infinity"})"), "\x49\0\0\0\0\0\0\xf0\xff"s);
  EXPECT_EQ(messageOf(R"({"sizes":[1e2,"7"]})"), "\x50\x64\x50\x07");
  EXPECT_EQ(messageOf(R"({"at":"1970-01-01T00:00:01.5+00:01"})"),
            "\x62\x11\x08\xc5\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x80\xca\xb5\xee\x01"s);
  EXPECT_EQ(messageOf(R"({"took":"-1s"})"),
            "\x8a\x01\x0d\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\0"s);
  EXPECT_EQ(messageOf(R"({"limit":0})"), "\x82\x01\x02\x08\0"s);
  EXPECT_EQ(
      messageOf(R"({"value":[null,{"a":1}]})"),
      "\x72\x1a\x32\x18\x0a\x02\x08\0\x0a\x12\x2a\x10\x0a\x0e\x0a\x01\x61\x12\x09\x11\0\0\0\0\0\0\xf0\x3f"s);
  EXPECT_EQ(messageOf(R"({"id":null,"flag":null})"), "");
}

TEST("What an Any is may be said before or behind what it has") {
  const std::string expected =
      "\x6a\x21\x0a\x1a"
      "type.googleapis.com/Upload"
      "\x12\x03\x0a\x01n";
  EXPECT_EQ(messageOf(R"({"any":{"@type":"type.googleapis.com/Upload","name":"n"}})"), expected);
  EXPECT_EQ(messageOf(R"({"any":{"name":"n","@type":"type.googleapis.com/Upload"}})"), expected);
  EXPECT_EQ(errorOf(R"({"any":{"name":"n"}})"),
            "any: invalid value Missing @type for any field in Item for type Any");
  EXPECT_EQ(errorOf(R"({"any":{"@type":"type.googleapis.com/Lost"}})"),
            "any: invalid value Invalid type URL, unknown type: Lost for type Any");
}

TEST("What is wrong is said with the path to it") {
  EXPECT_EQ(errorOf(R"({"inner":{"parts":[{},{"price":"x"}]}})"),
            "inner.parts[1].price: invalid value \"x\" for type TYPE_INT64");
  EXPECT_EQ(errorOf(R"({"words":{"a":1}})"),
            "words[0].value: invalid value 1 for type TYPE_STRING");
  EXPECT_EQ(errorOf(R"({"words":{"a":{}}})"),
            "words[0].value: invalid value Starting an object on a scalar field for type value");
  EXPECT_EQ(errorOf(R"({"words":{"a":"","a":""}})"),
            "words[0]: Repeated map key: 'a' is already set.");
  EXPECT_EQ(
      errorOf(R"({"text":"a","number":1})"),
      ": invalid value oneof field 'choice' is already set. Cannot set 'number' for type oneof");
  EXPECT_EQ(errorOf(R"({"color":"BLUE"})"),
            "color: invalid value \"BLUE\" for type type.googleapis.com/Color");
  EXPECT_EQ(errorOf(R"({"at":"2020-02-30T00:00:00Z"})"),
            "at: invalid value Field 'at', Invalid time format: Out-of-range field for type "
            "type.googleapis.com/google.protobuf.Timestamp");
  EXPECT_EQ(errorOf("[1]"), ": Root element must be a message.");
}

TEST("JSON that goes wrong is shown, and where") {
  EXPECT_EQ(errorOf(R"({"id":01})"),
            "Octal/hex numbers are not valid JSON values.\n{\"id\":01}\n      ^");
  EXPECT_EQ(errorOf(R"({"id")"),
            "Unexpected end of string. Expected : between key:value pair.\n\n^");
  EXPECT_EQ(errorOf("{} x"), "Parsing terminated before end of input.\n{} x\n   ^");
  EXPECT_EQ(errorOf("{\"id\":\"\xff\"}"), "Encountered non UTF-8 code points.\n\xff\"}\n^");
  EXPECT_EQ(errorOf(R"({"id":"\ud800x"})").substr(0, 22), "Missing low surrogate.");
  std::string deep;
  for (int i = 0; i < 101; ++i) deep += "{\"inner\":";
  EXPECT_EQ(errorOf(deep), "Message too deep. Max recursion depth reached for key 'inner'");
}

TEST("A list is a stream of messages, given on as they are whole") {
  const auto types = itemTypes();
  Options options;
  options.is_stream = true;
  RequestTranslator translator(settingsOf(*types, options));
  std::string frames;
  EXPECT(translator.add(R"([{"id":"a"},{"i)", &frames));
  EXPECT_EQ(frames, "\0\0\0\0\3\x0a\x01\x61"s);
  frames.clear();
  EXPECT(translator.add(R"(d":"b"}])", &frames));
  EXPECT(translator.finish(&frames));
  EXPECT_EQ(frames, "\0\0\0\0\3\x0a\x01\x62"s);
  EXPECT_EQ(errorOf("{}", options), "Expected an array instead of an object");
  EXPECT_EQ(errorOf("1 ", options), "Expected an array instead of a scalar value.");
  EXPECT_EQ(translate({"[]"}, options).frames, "");
}

TEST("What path and query bind goes beside what the body has, which goes before") {
  Options options;
  options.bindings = {{{"id"}, "a"}, {{"inner", "price"}, "5"}};
  EXPECT_EQ(messageOf(R"({"inner":{"id":"b"}})", options),
            "\x1a\x05\x0a\x01\x62\x10\x05\x0a\x01\x61");
  EXPECT_EQ(messageOf(R"({"id":"c"})", options), "\x0a\x01\x63\x1a\x02\x10\x05");
  options.refuses_collisions = true;
  EXPECT_EQ(
      errorOf(R"({"id":"c"})", options),
      "The binding value \"a\" of the field id is conflicting with the value \"c\" in the body.");
  EXPECT_EQ(errorOf(R"({"id":"a"})", options), "");
  options.bindings = {{{"sizes"}, "1"}, {{"sizes"}, "2"}};
  options.body_path = {"inner"};
  EXPECT_EQ(messageOf(R"({"flag":true})", options), "\x1a\x02\x78\x01\x50\x01\x50\x02");
}

}  // namespace fairlead::test
