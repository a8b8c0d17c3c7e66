// Any JSON as a request: its message is the same in whatever pieces it comes; what it becomes, as
// JSON again and back, says the same. Any bytes as a message: they are refused, or their JSON can
// be read.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "filters/transcoder/message_printer.h"
#include "filters/transcoder/request_translator.h"
#include "test/native/support/transcoded.h"

namespace {

using fairlead::transcoder::JsonEvents;
using fairlead::transcoder::JsonReader;
using fairlead::transcoder::JsonValue;
using fairlead::transcoder::MessagePrinter;
using fairlead::transcoder::PrintOptions;
using fairlead::transcoder::RequestTranslator;
using fairlead::transcoder::TypeTable;

const TypeTable& types() {
  static const std::unique_ptr<const TypeTable> table = fairlead::test::itemTypes();
  return *table;
}

// False: it is refused.
bool translate(std::string_view json, size_t piece, bool is_stream, std::string* frames) {
  RequestTranslator translator({types(), *types().at(0), is_stream, true, true, {}, {}});
  for (size_t at = 0; at < json.size(); at += piece) {
    if (!translator.add(json.substr(at, piece), frames)) return false;
  }
  return translator.finish(frames);
}

class Ignored final : public JsonEvents {
 public:
  void beginObject(std::string_view) override {}
  void endObject() override {}
  void beginList(std::string_view) override {}
  void endList() override {}
  void scalar(std::string_view, const JsonValue&) override {}
};

bool isJson(std::string_view text) {
  Ignored events;
  JsonReader reader(events);
  return reader.read(text) && reader.finish();
}

bool print(std::string_view message, bool everything, std::string* json) {
  PrintOptions options;
  options.adds_whitespace = options.prints_defaults = everything;
  MessagePrinter printer(types(), options);
  return printer.print(*types().at(0), message, json);
}

void checkRequest(std::string_view json) {
  std::string whole;
  const bool is_fine = translate(json, json.size() + 1, false, &whole);
  for (const size_t piece : {1, 3, 7}) {
    std::string pieces;
    // What follows the message in a piece of its own is nobody's.
    const bool is_fine_too = translate(json, piece, false, &pieces);
    FL_CHECK(!is_fine || (is_fine_too && pieces == whole));
    std::string stream;
    translate(json, piece, true, &stream);
  }
  if (!is_fine || whole.empty()) return;
  std::string printed;
  if (!print(std::string_view(whole).substr(5), false, &printed)) return;
  FL_CHECK(isJson(printed));
  std::string again;
  if (!translate(printed, printed.size(), false, &again)) return;
  std::string printed_again;
  FL_CHECK(print(std::string_view(again).substr(5), false, &printed_again));
  FL_CHECK(printed_again == printed);
}

void checkAnswer(std::string_view message) {
  for (const bool everything : {false, true}) {
    std::string json;
    if (!print(message, everything, &json)) continue;
    // Beyond the depth that is read.
    if (json.size() < 100) FL_CHECK(isJson(json));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  checkRequest(input);
  checkAnswer(input);
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  return {R"({"id":"a","price":"7","inner":{"sizes":[1,-1]},"flag":true,"words":{"k":"v"}})",
          R"({"number":-3,"color":"dark-blue","token":"-_8","ratio":"NaN","share":1e-7})",
          R"({"at":"2020-02-29T12:34:56.5+01:30","took":"-1.5s","limit":5})",
          R"({"any":{"id":"a","@type":"type.googleapis.com/Item","inner":{"id":"b"}}})",
          R"({"any":{"@type":"type.googleapis.com/google.protobuf.Value","value":[1,{"a":2}]}})",
          R"({"value":[1,"a",null,true,[],{"b":{"c":[]}}]})",
          R"([{"id":"a"},{'id':"\ud83d\ude00\n"},{text:"x",},])",
          "\x0a\x01\x61\x10\x07\x1a\x04\x0a\x02\x62\x63\x52\x03\x01\x02\x03\x78\x01",
          "\x5a\x06\x0a\x01k\x12\x01v\x62\x02\x08\x05\x72\x04\x32\x02\x0a\x00",
          "\x6a\x22\x0a\x1atype.googleapis.com/Upload\x12\x04\x0a\x02no"};
}
