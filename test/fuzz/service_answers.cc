// What services of gRPC may answer: frames in any pieces are the same frames, and any bytes as a
// message of an external processor, an authorization or a rate limit service are taken as far as
// they make sense. What is made of a head by them can be sent.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/proto_writer.h"
#include "filters/http/ext_authz_answer.h"
#include "filters/http/ext_proc_answer.h"
#include "filters/http/ext_proc_edits.h"
#include "filters/http/metadata_value.h"
#include "filters/http/ratelimit_messages.h"
#include "format/struct_metadata.h"
#include "http/grpc_frames.h"

using namespace fairlead;
using filters::ImmediateAnswer;
using filters::PartAnswer;
using filters::ProcessingAnswer;

namespace {

void checkFrames(std::string_view body) {
  std::vector<std::string> whole;
  std::string_view rest = body;
  std::string_view message;
  while (http::takeGrpcFrame(&rest, &message)) whole.emplace_back(message);
  for (const size_t piece : {1, 3, 7, 4096}) {
    http::GrpcFrames frames;
    std::vector<std::string> seen;
    std::string frame;
    for (size_t at = 0; at < body.size(); at += piece) {
      frames.add(body.substr(at, piece), [&](std::string_view part, bool ends) {
        frame += part;
        if (!ends) return;
        seen.push_back(frame.substr(http::kGrpcFrameHeaderBytes));
        frame.clear();
      });
    }
    FL_CHECK(seen == whole && frame == rest);
    FL_CHECK(frames.count() == whole.size() + (rest.empty() ? 0 : 1));
  }
}

bool isWithin(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

// Names and values of a head that was fine before.
void checkHead(const http::HeaderMap& headers) {
  for (const http::HeaderEntry& entry : headers) {
    if (entry.name_size == 0) continue;
    FL_CHECK(filters::isHeaderName(entry.name()) && filters::isHeaderValue(entry.value()));
  }
}

void checkEdits(std::string_view mutation) {
  Arena arena(1024);
  const filters::HeaderRules rules;
  for (const bool replaces : {false, true}) {
    http::RequestHead head;
    head.method = "GET";
    head.path = "/";
    head.authority = "a";
    head.headers.add(http::HeaderId::Other, "x-a", "1");
    head.headers.add(http::HeaderId::ContentLength, "content-length", "3");
    filters::EditTally rejected;
    const filters::ProcessorEdits edits{mutation, rules, {100, 60}, replaces, !replaces};
    edits.apply({.request = &head, .headers = head.headers}, arena, &rejected);
    checkHead(head.headers);
    for (const std::string_view text : {head.method, head.path, head.authority}) {
      FL_CHECK(filters::isHeaderValue(text));
    }
    http::HeaderMap answer;
    uint16_t status = 200;
    edits.apply({.status = &status, .headers = answer}, arena, &rejected);
    checkHead(answer);
    FL_CHECK(status >= 200 && status <= 999);
  }
}

void checkProcessor(std::string_view message) {
  ProcessingAnswer answer;
  if (!ProcessingAnswer::read(message, &answer)) return;
  FL_CHECK(isWithin(answer.part, message));
  FL_CHECK(!answer.metadata || isWithin(*answer.metadata, message));
  const PartAnswer part = PartAnswer::read(answer.part);
  FL_CHECK(isWithin(part.body, message));
  if (part.head) checkEdits(*part.head);
  const ImmediateAnswer immediate = ImmediateAnswer::read(answer.part);
  FL_CHECK(isWithin(immediate.body, message) && isWithin(immediate.details, message));
  FL_CHECK(immediate.status >= 200 && immediate.status <= 999);
  if (immediate.head) checkEdits(*immediate.head);
  if (const auto trailers = filters::readTrailersAnswer(answer.part)) checkEdits(*trailers);
}

void checkValue(std::string_view bytes) {
  Arena arena(1024);
  const JsonNode* const value = filters::valueNode(bytes, arena);
  if (!value) return;
  std::string text;
  appendJson(&text, *value);
  FL_CHECK(parseJson(text, arena, JsonRepeats::LastWins) != nullptr);
}

void checkMessage(std::string_view message) {
  checkProcessor(message);
  checkEdits(message);
  calls::CallAnswer answer;
  answer.body = message;
  const filters::AuthzAnswer authz = filters::AuthzAnswer::ofGrpc(answer);
  FL_CHECK(authz.http_status == 0 || (authz.http_status >= 200 && authz.http_status < 600));
  std::vector<plan::MetadataValue> values;
  format::readStruct(authz.metadata, &values);
  filters::RatelimitAnswer limits;
  filters::RatelimitAnswer::read(message, &limits);
  checkValue(message);
}

std::string option(std::string_view name, std::string_view value) {
  ProtoWriter header;
  header.bytes(1, name);
  header.bytes(3, value);
  ProtoWriter made;
  made.bytes(1, header.view());
  return made.take();
}

std::string inside(uint32_t field, std::string_view message) {
  ProtoWriter made;
  made.bytes(field, message);
  return made.take();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  checkFrames(bytes);
  checkMessage(bytes);
  std::string_view rest = bytes;
  std::string_view message;
  while (http::takeGrpcFrame(&rest, &message)) checkMessage(message);
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  ProtoWriter mutation;
  mutation.bytes(1, option("x-a", "b"));
  mutation.bytes(1, option(":status", "404"));
  mutation.bytes(1, option(":path", "/b"));
  mutation.bytes(2, "content-length");
  const std::string& edits = mutation.take();
  ProtoWriter common;
  common.number(1, 1);
  common.bytes(2, edits);
  common.bytes(3, inside(1, "body"));
  const std::string& part = common.take();
  ProtoWriter immediate;
  immediate.bytes(1, "\x08\xc8\x01");
  immediate.bytes(2, edits);
  immediate.bytes(3, "body");
  immediate.bytes(5, "details");
  ProtoWriter authz;
  authz.bytes(1, "\x08\x07");
  authz.bytes(2, inside(2, option("x-a", "b")) + inside(3, "no"));
  authz.bytes(4, "\x0a\x08\x0a\x01k\x12\x03\x1a\x01v");
  std::vector<std::string> seeds = {
      edits,
      inside(1, inside(1, part)),
      inside(4, inside(1, part)),
      inside(7, immediate.take()),
      authz.take(),
      "\x08\x02\x12\x0e\x08\x01\x12\x04\x08\x05\x10\x02\x18\x03\x22\x02\x08\x07",
      "\x1a\x01v",
      "\x2a\x0a\x0a\x08\x0a\x01k\x12\x03\x1a\x01v",
      "\x32\x07\x0a\x05\x1a\x03"
      "abc",
  };
  std::string frames;
  for (size_t i = 0; i < 2; ++i) {
    http::appendGrpcFrameHeader(&frames, 0, seeds[i].size());
    frames += seeds[i];
  }
  seeds.push_back(frames);
  return seeds;
}
