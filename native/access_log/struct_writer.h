// google.protobuf.Struct and Value of JSON that the control plane has written: metadata. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/proto_writer.h"

namespace fairlead::access_log {

// The fields of a Struct. False: the text is no JSON object.
bool writeStruct(std::string_view json, ProtoWriter* out);
// A Value of a text.
std::string textValue(std::string_view text);

}  // namespace fairlead::access_log
