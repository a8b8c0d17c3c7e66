// What an authorization service has said. A value; its texts are its own. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calls/call.h"
#include "filters/http/ext_authz_service.h"
#include "filters/http/header_rules.h"

namespace fairlead::filters {

struct AuthzAnswer {
  enum class Status : uint8_t { Ok, Denied, Error };

  struct Edit {
    HeaderEdit::Action action;
    std::string name;
    std::string value;

    HeaderEdit lent() const { return {action, name, value}; }
  };

  static AuthzAnswer ofGrpc(const calls::CallAnswer& answer);
  static AuthzAnswer ofHttp(const calls::CallAnswer& answer, const AuthzService& service);
  // To its metadata: how long the service took.
  void addDuration(uint64_t micros);

  Status status = Status::Error;
  // Of a refusal, or an error that says so; 0: as configured.
  uint16_t http_status = 0;
  std::string body;
  // Of the request; of a refusal, of its answer.
  std::vector<Edit> edits;
  // Of the answer to a request that may go on.
  std::vector<Edit> response_edits;
  std::vector<std::pair<std::string, std::string>> query_set;
  std::vector<std::string> query_remove;
  // google.protobuf.Struct; empty: none.
  std::string metadata;
  // It names ways to change headers that nobody knows.
  bool has_unknown_action = false;
};

}  // namespace fairlead::filters
