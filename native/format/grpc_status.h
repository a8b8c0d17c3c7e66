// The status of gRPC calls: how it reads, and what it is when only HTTP answered. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace fairlead::format {

// "DeadlineExceeded", "DEADLINE_EXCEEDED", or 4.
enum class GrpcStatusStyle : uint8_t { Camel, Snake, Number };

// Of a `grpc-status` header that makes no sense.
constexpr int64_t kInvalidGrpcStatus = -1;

// A header with a google.rpc.Status, in base64.
constexpr std::string_view kGrpcStatusDetails = "grpc-status-details-bin";

// Whether a request of that content type is gRPC: "application/grpc", "application/grpc+proto".
bool isGrpcContentType(std::string_view type);
// A header's number; kInvalidGrpcStatus when it is none.
int64_t parseGrpcStatus(std::string_view text);
int64_t grpcStatusOfHttp(uint16_t status);
// 500 for what has no name.
uint16_t httpStatusOfGrpc(int64_t status);
// Whether the host that sends such a header did well: the rest is its caller's fault, or nobody's.
bool isHostWell(std::string_view status);
// Empty: the status has no name, or is to be shown as a number.
std::string_view grpcStatusName(int64_t status, GrpcStatusStyle style);

}  // namespace fairlead::format
