// What external processors that speak HTTP are told, and say.
#include "filters/http/ext_proc_json.h"

#include "base/proto_writer.h"
#include "filters/http/ext_proc_answer.h"
#include "test/native/test.h"

namespace fairlead::test {

using filters::ImmediateAnswer;
using filters::PartAnswer;
using filters::ProcessingAnswer;
using filters::processingRequestAsJson;
using filters::processingResponseOfJson;

namespace {

std::string toldHeadOf(std::string_view name, std::string_view value) {
  ProtoWriter header;
  header.bytes(1, name);
  header.bytes(3, value);
  ProtoWriter map;
  map.bytes(1, header.view());
  ProtoWriter head;
  head.bytes(1, map.view());
  head.number(3, 1);
  return head.take();
}

bool isProcessorAnswer(std::string_view json) {
  std::string message;
  return processingResponseOfJson(json, &message);
}

}  // namespace

TEST("A request is told in JSON, by the names of protobuf") {
  ProtoWriter modes;
  modes.number(1, 2);
  ProtoWriter request;
  request.bytes(2, toldHeadOf(":path", "/a"));
  request.bytes(8, "");
  request.number(10, 1);
  request.bytes(11, modes.view());
  EXPECT_EQ(processingRequestAsJson(request.view()),
            "{\"request_headers\":{\"headers\":{\"headers\":[{\"key\":\":path\",\"raw_value\":"
            "\"L2E=\"}]},\"end_of_stream\":true},\"metadata_context\":{},\"observability_mode\":"
            "true,\"protocol_config\":{\"request_body_mode\":\"BUFFERED\"}}");
}

TEST("An answer is read by either spelling of its names") {
  std::string message;
  EXPECT(processingResponseOfJson(
      R"({"requestHeaders":{"response":{"status":"continue_and_replace","clearRouteCache":true,)"
      R"("header_mutation":{"removeHeaders":["x-a"]},"bodyMutation":{"body":"aGk"}}},)"
      R"("modeOverride":{"requestBodyMode":"STREAMED"},"overrideMessageTimeout":"1.5s"})",
      &message));
  ProcessingAnswer answer;
  EXPECT(ProcessingAnswer::read(message, &answer));
  EXPECT(answer.kind == ProcessingAnswer::Kind::RequestHead);
  EXPECT_EQ(answer.timeout_ms.value_or(0), 1500);
  EXPECT(answer.mode && answer.mode->request_body == plan::ProcessingMode::Body::Streamed);
  const PartAnswer part = PartAnswer::read(answer.part);
  EXPECT(part.replaces && part.clears_route && part.head);
  EXPECT_EQ(part.body, "hi");
}

TEST("An answer at once has a status by name or number") {
  for (const std::string_view code : {"\"Forbidden\"", "403"}) {
    std::string message;
    EXPECT(processingResponseOfJson("{\"immediate_response\":{\"status\":{\"code\":" +
                                        std::string(code) + "},\"details\":\"no\"}}",
                                    &message));
    ProcessingAnswer answer;
    EXPECT(ProcessingAnswer::read(message, &answer));
    const ImmediateAnswer at_once = ImmediateAnswer::read(answer.part);
    EXPECT_EQ(at_once.status, 403u);
    EXPECT_EQ(at_once.details, "no");
  }
}

TEST("What is no such message is no answer") {
  EXPECT(isProcessorAnswer("{}"));
  EXPECT(isProcessorAnswer("{\"request_headers\":null}"));
  for (const std::string_view json :
       {"", "[]", "no", "{\"other\":1}", "{\"request_headers\":1}",
        "{\"request_headers\":{\"response\":{\"status\":\"OTHER\"}}}",
        "{\"override_message_timeout\":\"1\"}", "{\"dynamic_metadata\":[]}",
        "{\"immediate_response\":{\"body\":\"***\"}}"}) {
    EXPECT(!isProcessorAnswer(json));
  }
}

}  // namespace fairlead::test
