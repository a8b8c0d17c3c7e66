#include "filters/http/ext_proc_answer.h"

#include "base/proto_reader.h"

namespace fairlead::filters {

namespace {

plan::ProcessingMode readMode(std::string_view message) {
  using Mode = plan::ProcessingMode;
  Mode mode;
  ProtoReader reader(message);
  while (reader.next()) {
    const auto head = static_cast<Mode::Head>(reader.number());
    const auto body = static_cast<Mode::Body>(reader.number());
    switch (reader.field()) {
      case 1:
        mode.request_head = head;
        break;
      case 2:
        mode.response_head = head;
        break;
      case 3:
        mode.request_body = body;
        break;
      case 4:
        mode.response_body = body;
        break;
      case 5:
        mode.request_trailers = head;
        break;
      case 6:
        mode.response_trailers = head;
        break;
      default:
        break;
    }
  }
  return mode;
}

// google.protobuf.Duration
int64_t readMilliseconds(std::string_view message) {
  constexpr int64_t kMostSeconds = 315'576'000'000;
  int64_t seconds = 0;
  int64_t nanos = 0;
  ProtoReader reader(message);
  while (reader.next()) {
    if (reader.field() == 1) seconds = static_cast<int64_t>(reader.number());
    if (reader.field() == 2) nanos = static_cast<int32_t>(reader.number());
  }
  if (seconds < 0 || seconds > kMostSeconds || nanos < 0 || nanos > 999'999'999) return -1;
  return seconds * 1000 + nanos / 1'000'000;
}

// The last message of that field.
std::optional<std::string_view> readMessage(std::string_view message, uint32_t field) {
  std::optional<std::string_view> found;
  ProtoReader reader(message);
  while (reader.next()) {
    if (reader.field() == field) found = reader.bytes();
  }
  return found;
}

void readBody(std::string_view message, PartAnswer* out) {
  using Body = PartAnswer::Body;
  out->has_body = true;
  ProtoReader reader(message);
  while (reader.next()) {
    switch (reader.field()) {
      case 1:
        out->change = Body::Set;
        out->body = reader.bytes();
        break;
      case 2:
        out->change = reader.flag() ? Body::Cleared : Body::Unchanged;
        break;
      case 3: {
        out->change = Body::Streamed;
        ProtoReader streamed(reader.bytes());
        while (streamed.next()) {
          if (streamed.field() == 1) out->body = streamed.bytes();
          if (streamed.field() == 2) out->is_last = streamed.flag();
        }
        break;
      }
      default:
        break;
    }
  }
}

}  // namespace

bool ProcessingAnswer::read(std::string_view message, ProcessingAnswer* out) {
  ProtoReader reader(message);
  while (reader.next()) {
    const uint32_t field = reader.field();
    switch (field) {
      case 1:
      case 2:
      case 3:
      case 4:
      case 5:
      case 6:
      case 7:
      case 11:
        out->kind = static_cast<Kind>(field);
        out->part = reader.bytes();
        break;
      case 8:
        out->metadata = reader.bytes();
        break;
      case 9:
        out->mode = readMode(reader.bytes());
        break;
      case 10:
        out->timeout_ms = readMilliseconds(reader.bytes());
        break;
      default:
        break;
    }
  }
  return reader.isWhole();
}

PartAnswer PartAnswer::read(std::string_view part) {
  PartAnswer answer;
  const std::optional<std::string_view> common = readMessage(part, 1);
  if (!common) return answer;
  ProtoReader reader(*common);
  while (reader.next()) {
    switch (reader.field()) {
      case 1:
        answer.replaces = reader.number() == 1;
        break;
      case 2:
        answer.head = reader.bytes();
        break;
      case 3:
        readBody(reader.bytes(), &answer);
        break;
      case 5:
        answer.clears_route = reader.flag();
        break;
      default:
        break;
    }
  }
  return answer;
}

ImmediateAnswer ImmediateAnswer::read(std::string_view part) {
  ImmediateAnswer answer;
  ProtoReader reader(part);
  while (reader.next()) {
    switch (reader.field()) {
      case 1: {
        answer.status = 0;
        ProtoReader status(reader.bytes());
        while (status.next()) {
          if (status.field() == 1) answer.status = status.number();
        }
        break;
      }
      case 2:
        answer.head = reader.bytes();
        break;
      case 3:
        answer.body = reader.bytes();
        break;
      case 4: {
        answer.grpc_status = 0;
        ProtoReader status(reader.bytes());
        while (status.next()) {
          if (status.field() == 1) answer.grpc_status = static_cast<uint32_t>(status.number());
        }
        break;
      }
      case 5:
        answer.details = reader.bytes();
        break;
      default:
        break;
    }
  }
  // What is no status of an answer's end is none that anybody may be told.
  if (answer.status < 200 || answer.status > 999) answer.status = 200;
  return answer;
}

std::optional<std::string_view> readTrailersAnswer(std::string_view part) {
  return readMessage(part, 1);
}

}  // namespace fairlead::filters
