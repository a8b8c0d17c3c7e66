#include "format/grpc_status.h"

#include <iterator>

#include "base/text.h"

namespace fairlead::format {

namespace {

struct Name {
  std::string_view camel;
  std::string_view snake;
};

// By number.
constexpr Name kNames[] = {
    {"OK", "OK"},
    {"Canceled", "CANCELLED"},
    {"Unknown", "UNKNOWN"},
    {"InvalidArgument", "INVALID_ARGUMENT"},
    {"DeadlineExceeded", "DEADLINE_EXCEEDED"},
    {"NotFound", "NOT_FOUND"},
    {"AlreadyExists", "ALREADY_EXISTS"},
    {"PermissionDenied", "PERMISSION_DENIED"},
    {"ResourceExhausted", "RESOURCE_EXHAUSTED"},
    {"FailedPrecondition", "FAILED_PRECONDITION"},
    {"Aborted", "ABORTED"},
    {"OutOfRange", "OUT_OF_RANGE"},
    {"Unimplemented", "UNIMPLEMENTED"},
    {"Internal", "INTERNAL"},
    {"Unavailable", "UNAVAILABLE"},
    {"DataLoss", "DATA_LOSS"},
    {"Unauthenticated", "UNAUTHENTICATED"},
};

}  // namespace

bool isGrpcContentType(std::string_view type) {
  constexpr std::string_view kGrpc = "application/grpc";
  return type.starts_with(kGrpc) && (type.size() == kGrpc.size() || type[kGrpc.size()] == '+');
}

int64_t parseGrpcStatus(std::string_view text) {
  uint64_t number = 0;
  if (!parseSpokenNumber(text, &number) || number > INT64_MAX) return kInvalidGrpcStatus;
  return static_cast<int64_t>(number);
}

int64_t grpcStatusOfHttp(uint16_t status) {
  switch (status) {
    case 400:
      return 13;
    case 401:
      return 16;
    case 403:
      return 7;
    case 404:
      return 12;
    case 429:
    case 502:
    case 503:
    case 504:
      return 14;
    default:
      return 2;
  }
}

uint16_t httpStatusOfGrpc(int64_t status) {
  static constexpr uint16_t kStatuses[] = {200, 499, 500, 400, 504, 404, 409, 403, 429,
                                           400, 409, 400, 501, 500, 503, 500, 401};
  if (status < 0 || status >= static_cast<int64_t>(std::size(kStatuses))) return 500;
  return kStatuses[status];
}

bool isHostWell(std::string_view status) {
  return httpStatusOfGrpc(parseGrpcStatus(status)) / 100 != 5;
}

std::string_view grpcStatusName(int64_t status, GrpcStatusStyle style) {
  if (style == GrpcStatusStyle::Number) return {};
  if (status < 0 || status >= static_cast<int64_t>(std::size(kNames))) return {};
  const Name& name = kNames[status];
  return style == GrpcStatusStyle::Camel ? name.camel : name.snake;
}

}  // namespace fairlead::format
