// What an external processor has said, as far as it is read at once: views of its message, which
// live as long as that does. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "plan/plan.gen.h"

namespace fairlead::filters {

// ProcessingResponse
struct ProcessingAnswer {
  // The numbers of its fields.
  enum class Kind : uint8_t {
    None = 0,
    RequestHead = 1,
    ResponseHead = 2,
    RequestBody = 3,
    ResponseBody = 4,
    RequestTrailers = 5,
    ResponseTrailers = 6,
    Immediate = 7,
    StreamedImmediate = 11,
  };

  // False: it is no such message.
  static bool read(std::string_view message, ProcessingAnswer* out);

  Kind kind = Kind::None;
  // The message of that kind.
  std::string_view part;
  // google.protobuf.Struct
  std::optional<std::string_view> metadata;
  std::optional<plan::ProcessingMode> mode;
  // It asks for more time, and says nothing else; less than 0: for something that is no time.
  std::optional<int64_t> timeout_ms;
};

// CommonResponse, of a HeadersResponse or a BodyResponse.
struct PartAnswer {
  enum class Body : uint8_t { Unchanged, Set, Cleared, Streamed };

  static PartAnswer read(std::string_view part);

  // The message is that from here on, and nothing more of it is told.
  bool replaces = false;
  bool clears_route = false;
  // HeaderMutation
  std::optional<std::string_view> head;
  // It speaks of the body, though it may change nothing.
  bool has_body = false;
  Body change = Body::Unchanged;
  // Of Set and Streamed.
  std::string_view body;
  bool is_last = false;
};

// ImmediateResponse
struct ImmediateAnswer {
  static ImmediateAnswer read(std::string_view part);

  uint64_t status = 200;
  std::optional<std::string_view> head;
  std::string_view body;
  std::string_view details;
  std::optional<uint32_t> grpc_status;
};

// The HeaderMutation of a TrailersResponse.
std::optional<std::string_view> readTrailersAnswer(std::string_view part);

}  // namespace fairlead::filters
