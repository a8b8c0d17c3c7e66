// Texts that become values of metadata: numbers, and protobuf's google.protobuf.Value. Pure.
#pragma once

#include <string_view>

#include "base/arena.h"
#include "base/json_tree.h"

namespace fairlead::filters {

JsonNode* makeJsonNode(Arena& arena, JsonNode::Kind kind);
// Null: it is no number.
const JsonNode* numberNode(std::string_view text, Arena& arena);
// Of a google.protobuf.Value in its wire format. Null: it is none.
const JsonNode* valueNode(std::string_view bytes, Arena& arena);

}  // namespace fairlead::filters
