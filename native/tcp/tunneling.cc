#include "tcp/tunneling.h"

#include <algorithm>
#include <memory>

#include "base/json.h"
#include "base/line_ends.h"
#include "http/header_syntax.h"

namespace fairlead::tcp {

namespace {

void appendShown(std::string* out, std::string_view name, std::string_view value) {
  out->append(out->empty() ? "{\"headers\":[" : ",").append("{\"key\":");
  appendJsonString(out, name);
  out->append(",\"value\":");
  appendJsonString(out, value);
  out->append("}");
}

std::string closeShown(std::string shown) {
  if (shown.empty()) return "{\"headers\":[]}";
  return shown.append("]}");
}

std::string_view trimmed(std::string_view text) {
  const size_t from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t") + 1 - from);
}

// Calls visit(name, value) for each header line of a head in HTTP/1.
template <typename Visit>
void forEachLine(std::string_view head, Visit visit) {
  for (size_t at = head.find("\r\n"); at != std::string_view::npos;) {
    at += 2;
    const size_t end = head.find("\r\n", at);
    if (end == std::string_view::npos || end == at) break;
    const std::string_view line = head.substr(at, end - at);
    const size_t colon = std::min(line.find(':'), line.size());
    visit(line.substr(0, colon), trimmed(line.substr(std::min(colon + 1, line.size()))));
    at = end;
  }
}

}  // namespace

Tunneling::Tunneling(const plan::TunnelingConfig& plan)
    : hostname_(plan.hostname.value_or(plan::Format())),
      headers_(plan.headers.value_or(plan::HeaderMutations())),
      path_(plan.post_path),
      id_header_(plan.request_id_header),
      id_key_(plan.request_id_metadata_key),
      uses_post_(plan.use_post),
      keeps_headers_(plan.propagate_response_headers),
      keeps_trailers_(plan.propagate_response_trailers) {}

TunnelRequest Tunneling::request(const format::FormatContext& context, std::string_view id,
                                 http::HeaderMap& headers, Arena& arena) const {
  if (!id.empty()) headers.add(http::HeaderId::Other, id_header_, id);
  headers_.request.apply(headers, context, arena);
  std::string hostname;
  hostname_.appendLine(context, &hostname);
  // Some of it may have been said by clients.
  blankLineEnds(&hostname);
  return {arena.copy(hostname), &headers};
}

std::string Tunneling::connectHead(const format::FormatContext& context,
                                   std::string_view id) const {
  Arena arena{1024};
  const auto headers = std::make_unique<http::HeaderMap>();
  const TunnelRequest asked = request(context, id, *headers, arena);
  if (http::brokenHeader("CONNECT", {}, asked.authority, *headers)) return {};
  std::string head = "CONNECT ";
  head.append(asked.authority).append(" HTTP/1.1\r\nhost: ").append(asked.authority);
  head.append("\r\n");
  for (const http::HeaderEntry& entry : *headers) {
    if (entry.name_size == 0) continue;
    head.append(entry.name()).append(": ").append(entry.value()).append("\r\n");
  }
  return head.append("\r\n");
}

std::string shownHeaders(unsigned status, const http::HeaderMap& headers) {
  std::string shown;
  if (status > 0) appendShown(&shown, ":status", std::to_string(status));
  for (const http::HeaderEntry& entry : headers) {
    if (entry.name_size > 0) appendShown(&shown, entry.name(), entry.value());
  }
  return closeShown(std::move(shown));
}

std::string shownHead(std::string_view head) {
  constexpr size_t kStatusAt = std::string_view("HTTP/1.1 ").size();
  std::string shown;
  appendShown(&shown, ":status", head.substr(std::min(kStatusAt, head.size()), 3));
  forEachLine(head, [&shown](std::string_view name, std::string_view value) {
    std::string lower(name);
    for (char& c : lower) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    }
    appendShown(&shown, lower, value);
  });
  return closeShown(std::move(shown));
}

uint32_t headerBytes(std::string_view head) {
  uint32_t bytes = 0;
  forEachLine(head, [&bytes](std::string_view name, std::string_view value) {
    bytes += static_cast<uint32_t>(name.size() + value.size()) + http::kBytesBesideHeader;
  });
  return std::max(bytes, http::kBytesBesideHeader);
}

uint32_t headerLineBytes(std::string_view head) {
  const size_t begin = head.find("\r\n") + 2;
  return static_cast<uint32_t>(head.size() - begin - 2);
}

}  // namespace fairlead::tcp
