#include "filters/http/connect_error.h"

#include <iterator>
#include <vector>

#include "base/base64.h"
#include "filters/transcoder/utf8.h"
#include "filters/transcoder/wire.h"
#include "format/grpc_status.h"

namespace fairlead::filters {

namespace {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;

std::string codeOf(int64_t status) {
  static constexpr std::string_view kCodes[] = {"",
                                                "canceled",
                                                "unknown",
                                                "invalid_argument",
                                                "deadline_exceeded",
                                                "not_found",
                                                "already_exists",
                                                "permission_denied",
                                                "resource_exhausted",
                                                "failed_precondition",
                                                "aborted",
                                                "out_of_range",
                                                "unimplemented",
                                                "internal",
                                                "unavailable",
                                                "data_loss",
                                                "unauthenticated"};
  if (status > 0 && status < static_cast<int64_t>(std::size(kCodes))) {
    return std::string(kCodes[status]);
  }
  return "code_" + std::to_string(status);
}

void appendMember(std::string* out, std::string_view name, std::string_view value) {
  transcoder::appendJsonString(out, name);
  out->push_back(':');
  transcoder::appendJsonString(out, value);
}

// A google.protobuf.Any.
void appendDetail(std::string* out, std::string_view any) {
  transcoder::WireReader reader(any);
  uint32_t number = 0;
  transcoder::WireType wire{};
  std::string_view parts[3];
  std::string_view bytes;
  while (reader.tag(&number, &wire) && wire == transcoder::WireType::Delimited &&
         reader.delimited(&bytes)) {
    if (number == 1 || number == 2) parts[number] = bytes;
  }
  std::string value;
  Base64Writer writer;
  writer.add(parts[2], &value);
  writer.finish(&value);
  out->push_back('{');
  appendMember(out, "type", parts[1]);
  out->push_back(',');
  appendMember(out, "value", value);
  out->push_back('}');
}

// Those of a google.rpc.Status.
void appendDetails(std::string* out, std::string_view header) {
  std::string padded(header);
  while (padded.size() % 4 != 0) padded.push_back('=');
  std::string status;
  if (!decodeBase64(padded, &status)) return;
  transcoder::WireReader reader(status);
  uint32_t number = 0;
  transcoder::WireType wire{};
  bool is_first = true;
  while (reader.tag(&number, &wire)) {
    uint64_t code = 0;
    std::string_view bytes;
    if (wire == transcoder::WireType::Varint ? !reader.varint(&code) : !reader.delimited(&bytes)) {
      break;
    }
    if (number != 3 || wire != transcoder::WireType::Delimited) continue;
    out->append(is_first ? ",\"details\":[" : ",");
    is_first = false;
    appendDetail(out, bytes);
  }
  if (!is_first) out->push_back(']');
}

// Each name with all of its values.
void appendMetadata(std::string* out, const HeaderMap& trailers) {
  std::vector<std::string_view> names;
  for (const HeaderEntry& entry : trailers) {
    const std::string_view name = entry.name();
    bool is_known = name.empty() || name.starts_with("grpc-");
    for (const std::string_view other : names) is_known = is_known || other == name;
    if (is_known) continue;
    out->append(names.empty() ? "\"metadata\":{" : ",");
    names.push_back(name);
    transcoder::appendJsonString(out, name);
    out->append(":[");
    bool is_first = true;
    for (const HeaderEntry& other : trailers) {
      if (other.name() != name) continue;
      if (!is_first) out->push_back(',');
      is_first = false;
      transcoder::appendJsonString(out, other.value());
    }
    out->push_back(']');
  }
  if (!names.empty()) out->push_back('}');
}

}  // namespace

uint16_t connectStatusOf(int64_t grpc_status) {
  static constexpr uint16_t kStatuses[] = {200, 408, 500, 400, 408, 404, 409, 403, 429,
                                           412, 409, 400, 404, 500, 503, 500, 401};
  const bool is_known =
      grpc_status >= 0 && grpc_status < static_cast<int64_t>(std::size(kStatuses));
  return is_known ? kStatuses[grpc_status] : 500;
}

void appendConnectError(std::string* out, int64_t grpc_status, const HeaderMap& trailers) {
  out->push_back('{');
  appendMember(out, "code", codeOf(grpc_status));
  const HeaderEntry* const message = trailers.find(HeaderId::GrpcMessage);
  if (message && !message->value().empty()) {
    out->push_back(',');
    appendMember(out, "message", message->value());
  }
  if (const HeaderEntry* details = trailers.find(format::kGrpcStatusDetails)) {
    appendDetails(out, details->value());
  }
  out->push_back('}');
}

std::string connectEndOf(const HeaderMap& trailers, bool has_metadata) {
  const HeaderEntry* const header = trailers.find(HeaderId::GrpcStatus);
  const int64_t status = header ? format::parseGrpcStatus(header->value()) : 2;
  std::string end = "{";
  if (status != 0) {
    end.append("\"error\":");
    appendConnectError(&end, status, trailers);
  }
  std::string metadata;
  if (has_metadata) appendMetadata(&metadata, trailers);
  if (status != 0 && !metadata.empty()) end.push_back(',');
  return end + metadata + "}";
}

}  // namespace fairlead::filters
