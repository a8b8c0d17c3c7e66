// An answer that the proxy itself gives.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "format/details.h"
#include "format/response_flags.h"
#include "http/message.h"

namespace fairlead::filters {

// Who changes the headers of an answer that is about to be given.
class ReplyEditor {
 public:
  // Values that are set live as long as the editor's, or in the arena.
  virtual void edit(http::HeaderMap& headers, Arena& arena) = 0;

 protected:
  ~ReplyEditor() = default;
};

using format::kEmptyDetails;

struct LocalReply {
  uint16_t status;
  // Empty: no body, and no content-type.
  std::string_view body;
  // What %RESPONSE_CODE_DETAILS% says.
  std::string_view details;
  std::optional<format::ResponseFlag> flag = std::nullopt;
  bool overloaded = false;
  // The connection ends after it.
  bool close = false;
  // A redirect's target; empty: none.
  std::string_view location = {};
  bool degraded = false;
  // The router's, in place of a host's: it tells of its attempts.
  bool is_of_router = false;
  // In place of what follows from the status, where the request is gRPC.
  std::optional<uint32_t> grpc_status = std::nullopt;
  // Without what the route adds to answers, nor made one for gRPC: a filter's own words.
  bool is_bare = false;
  // Empty: text/plain, unless its headers say otherwise.
  std::string_view content_type = {};
  // Of a host whose answer this one takes the place of; they live until it is given. Null: none.
  const http::HeaderMap* headers = nullptr;
  // Null: nobody. Lives until it is given.
  ReplyEditor* editor = nullptr;
  // The overload manager has it so.
  bool is_local_overload = false;
  // Something in the request's body has it so: of HTTP/1 the end, which comes apart in the real
  // server, was not looked at.
  bool is_before_end = false;
};

// What grpc-status says in place of an HTTP status.
inline std::string_view grpcStatusOf(uint16_t status) {
  switch (status) {
    case 400:
      return "13";
    case 401:
      return "16";
    case 403:
      return "7";
    case 404:
      return "12";
    case 429:
    case 502:
    case 503:
    case 504:
      return "14";
    default:
      return "2";
  }
}

}  // namespace fairlead::filters
