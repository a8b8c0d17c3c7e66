#include "filters/transcoder/http_body.h"

#include <span>

#include "filters/transcoder/wire.h"

namespace fairlead::transcoder {

namespace {

constexpr std::string_view kUnknownType =
    "type.googleapis.com/"
    "envoy.extensions.filters.http.grpc_json_transcoder.v3.UnknownQueryParams";
// Fields of HttpBody.
constexpr uint32_t kContentType = 1;
constexpr uint32_t kData = 2;
constexpr uint32_t kExtensions = 3;

// A map of names to lists of values, in an Any.
std::string unknownExtension(const UnknownParameters& unknown) {
  std::string map;
  for (size_t i = 0; i < unknown.size(); ++i) {
    const std::string& name = unknown[i].first;
    bool is_first = true;
    for (size_t j = 0; j < i; ++j) is_first = is_first && unknown[j].first != name;
    if (!is_first) continue;
    std::string values;
    for (const auto& [other, value] : unknown) {
      if (other == name) appendDelimited(&values, 1, value);
    }
    std::string entry;
    appendDelimited(&entry, 1, name);
    appendDelimited(&entry, 2, values);
    appendDelimited(&map, 1, entry);
  }
  std::string any;
  appendDelimited(&any, 1, kUnknownType);
  appendDelimited(&any, 2, map);
  return any;
}

bool skipField(WireReader& reader, WireType wire) {
  uint64_t number = 0;
  uint32_t half = 0;
  std::string_view bytes;
  switch (wire) {
    case WireType::Varint:
      return reader.varint(&number);
    case WireType::Fixed64:
      return reader.fixed(&number);
    case WireType::Fixed32:
      return reader.fixed(&half);
    case WireType::Delimited:
      return reader.delimited(&bytes);
    default:
      return false;
  }
}

bool readFrom(std::string_view message, std::span<const uint32_t> path, HttpBody* body) {
  WireReader reader(message);
  while (!reader.isAtEnd()) {
    uint32_t number = 0;
    WireType wire{};
    std::string_view bytes;
    if (!reader.tag(&number, &wire)) return false;
    const bool is_wanted = path.empty() ? number <= kExtensions : number == path[0];
    if (!is_wanted || wire != WireType::Delimited) {
      if (!skipField(reader, wire)) return false;
      continue;
    }
    if (!reader.delimited(&bytes)) return false;
    if (!path.empty()) {
      if (!readFrom(bytes, path.subspan(1), body)) return false;
    } else if (number == kContentType) {
      body->content_type = bytes;
    } else if (number == kData) {
      body->data = bytes;
    }
  }
  return true;
}

}  // namespace

void appendHttpBody(std::string* out, const std::vector<uint32_t>& path,
                    std::string_view content_type, std::string_view data,
                    const UnknownParameters& unknown) {
  std::string head;
  if (!content_type.empty()) appendDelimited(&head, kContentType, content_type);
  if (!unknown.empty()) appendDelimited(&head, kExtensions, unknownExtension(unknown));
  appendTag(&head, kData, WireType::Delimited);
  appendVarint(&head, data.size());
  // From the innermost message out.
  std::string prefix;
  size_t size = head.size() + data.size();
  for (size_t i = path.size(); i > 0; --i) {
    std::string field;
    appendTag(&field, path[i - 1], WireType::Delimited);
    appendVarint(&field, size);
    prefix.insert(0, field);
    size += field.size();
  }
  out->append(prefix).append(head).append(data);
}

bool readHttpBody(std::string_view message, const std::vector<uint32_t>& path, HttpBody* body) {
  return readFrom(message, path, body);
}

}  // namespace fairlead::transcoder
