// What an external processor is told: one ProcessingRequest for each part of a message. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/proto_writer.h"
#include "filters/http/ext_proc_settings.h"
#include "format/context.h"
#include "http/message.h"

namespace fairlead::filters {

// The numbers of ProcessingRequest's fields.
enum class ProcessedPart : uint8_t {
  RequestHead = 2,
  ResponseHead = 3,
  RequestBody = 4,
  ResponseBody = 5,
  RequestTrailers = 6,
  ResponseTrailers = 7,
};

// envoy.config.core.v3.HeaderMap, of what the service may see.
class ToldHeaders {
 public:
  explicit ToldHeaders(const ExtProcSettings& settings) : settings_(settings) {}

  void add(std::string_view name, std::string_view value);
  void addAll(const http::HeaderMap& headers);
  std::string_view view() const { return map_.view(); }

 private:
  const ExtProcSettings& settings_;
  ProtoWriter map_;
};

// HttpHeaders; `end`: there is no body.
std::string toldHead(const ToldHeaders& headers, bool end);
// HttpBody
std::string toldBody(std::string_view body, bool end);
// HttpTrailers
std::string toldTrailers(const ToldHeaders& headers);

// google.protobuf.Struct of what has a value.
std::string toldAttributes(const std::vector<ProcessingAttribute>& attributes,
                           const format::FormatContext& context, Arena& arena);

// What goes along with each part.
struct ToldBeside {
  // envoy.config.core.v3.Metadata
  std::string_view metadata;
  // Null data: none.
  std::string_view attributes;
  bool is_observed;
  // Null: told already.
  const plan::ProcessingMode* mode;
  bool sends_body_at_once;
};

std::string processingRequest(ProcessedPart part, std::string_view message,
                              const ToldBeside& beside);

}  // namespace fairlead::filters
