// What a filter transcodes: methods and their types, and which of them a request is for. Immutable;
// all workers read it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "filters/transcoder/http_body.h"
#include "filters/transcoder/message_printer.h"
#include "filters/transcoder/method_table.h"
#include "filters/transcoder/request_weaver.h"
#include "filters/transcoder/types.h"
#include "plan/plan.gen.h"

namespace fairlead::transcoder {

struct Method {
  const plan::TranscodedMethod* plan;
  const MessageType* input;
  const MessageType* output;
  // Numbers of the fields that lead to the HttpBody.
  std::vector<uint32_t> request_path;
  std::vector<uint32_t> response_path;
};

// A request as a call.
struct Call {
  const Method* method = nullptr;
  // Where its body is in its message: names of fields.
  std::vector<std::string_view> body_path;
  std::vector<Binding> bindings;
  UnknownParameters unknown;
};

class Service {
 public:
  static Result<std::unique_ptr<const Service>> build(const plan::GrpcJsonTranscoder& plan);

  enum class Outcome : uint8_t { Found, NoMethod, BadParameter };
  // `path` with its query. Unless it is found, `why` says why not. What is found has views of the
  // path.
  Outcome find(std::string_view http_method, std::string_view path, Call* call,
               std::string* why) const;

  const plan::GrpcJsonTranscoder& plan() const { return plan_; }
  const TypeTable& types() const { return *types_; }
  const PrintOptions& printOptions() const { return print_options_; }
  // google.rpc.Status; null: there is none.
  const MessageType* status() const { return status_; }

 private:
  explicit Service(const plan::GrpcJsonTranscoder& plan) : plan_(plan), methods_by_path_(plan_) {}

  const plan::GrpcJsonTranscoder plan_;
  const MethodTable methods_by_path_;
  std::unique_ptr<const TypeTable> types_;
  std::vector<Method> methods_;
  PrintOptions print_options_;
  const MessageType* status_ = nullptr;
};

}  // namespace fairlead::transcoder
