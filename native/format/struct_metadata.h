// Metadata as google.protobuf.Struct, as services send it and are sent it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/proto_writer.h"
#include "format/filter_metadata.h"
#include "net/findings.h"

namespace fairlead::format {

// All values of a struct by their paths, as FilterMetadata takes them: members of objects in the
// order of their names. False: it is broken, or nested too deep.
bool readStruct(std::string_view bytes, std::vector<plan::MetadataValue>* out);
// A value as it stands in JSON; numbers as JSON writes them.
void appendJsonNumber(std::string* out, double value);

// A struct of JSON that is an object. False: it is none.
bool writeStruct(std::string_view json, ProtoWriter* out);
// Of text alone.
void writeStruct(const net::Findings::Values& values, ProtoWriter* out);

}  // namespace fairlead::format
