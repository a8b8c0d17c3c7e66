// What external processors that speak HTTP are told, and say: the messages of those that speak
// gRPC, in JSON as protobuf has it. Pure.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::filters {

// Of a ProcessingRequest of this proxy's own making, without typed metadata.
std::string processingRequestAsJson(std::string_view message);

// A ProcessingResponse. False: it is none.
bool processingResponseOfJson(std::string_view json, std::string* message);

}  // namespace fairlead::filters
