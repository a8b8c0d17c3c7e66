// How the bytes after a head are delimited (RFC 9112 §6.3). Pure: values from values.
#pragma once

#include <cstdint>
#include <string_view>

#include "http/http1/scanner.h"
#include "http/message.h"

namespace fairlead::http1 {

struct BodyFraming {
  enum class Kind : uint8_t {
    None,
    Length,
    Chunked,
    // Responses only: the body ends with the connection.
    UntilClose,
  };
  Kind kind = Kind::None;
  // Meaningful only when kind == Length; never 0 then.
  uint64_t length_bytes = 0;
};

// The framing, or the error that must end the connection: the two ends no longer agree on where
// the next message starts.
struct FramingResult {
  BodyFraming framing;
  bool ok = true;
  ScanError error;
  // As the real server has it, the headers were not read: logs count none of their bytes.
  bool is_unread = false;
};

struct FramingRules {
  // http_protocol_options.allow_chunked_length: with both, chunked wins and the length is dropped.
  bool allow_chunked_length = false;
  // Of requests: else one of HTTP/1.0 is refused in any case.
  bool accepts_http_10 = true;
};

// Where chunked wins over a length (allow_chunked_length), the length is taken out of the head.
FramingResult requestFraming(http::RequestHead& head, const FramingRules& rules);

// What was asked for by the request that is answered.
enum class AnsweredMethod : uint8_t { Other, Head, Connect, Upgrade };
FramingResult responseFraming(http::ResponseHead& head, AnsweredMethod method,
                              const FramingRules& rules);

}  // namespace fairlead::http1
