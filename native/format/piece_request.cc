// Operators that look into a request's headers, and those that choose among others.
#include <algorithm>

#include "base/text.h"
#include "format/append_number.h"
#include "format/piece.h"
#include "http/query.h"

namespace fairlead::format {

namespace {

// The text up to the first such character that is not within double quotes; `text` goes behind it.
// False: quotes do not end.
bool takePart(std::string_view* text, char separator, std::string_view* part) {
  bool is_quoted = false;
  bool is_escaped = false;
  size_t end = 0;
  for (; end < text->size(); ++end) {
    const char c = (*text)[end];
    if (c == separator && !is_quoted) break;
    if (c == '"' && !is_escaped) is_quoted = !is_quoted;
    is_escaped = c == '\\' && !is_escaped;
  }
  *part = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return !is_quoted;
}

void appendUnquoted(std::string_view text, std::string* out) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_escape =
        text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\');
    if (is_escape) ++i;
    out->push_back(text[i]);
  }
}

}  // namespace

// "10.1.0.0/16": the bits behind the prefix are 0.
bool Piece::appendNetwork(const net::Address& address, std::string* out) const {
  if (!address.isIp()) {
    char text[net::Address::kTextBytes];
    out->append(address.writeIp(text));
    return true;
  }
  std::string bytes(address.ipBytes());
  const uint32_t bits =
      std::min<uint32_t>(*prefix_length_, static_cast<uint32_t>(bytes.size()) * 8);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t first_bit = i * 8;
    const size_t kept = bits > first_bit ? std::min<size_t>(bits - first_bit, 8) : 0;
    bytes[i] = static_cast<char>(static_cast<unsigned char>(bytes[i]) & (0xff00u >> kept));
  }
  char text[net::Address::kTextBytes];
  out->append(net::Address::fromIp(bytes, 0).writeIp(text));
  out->push_back('/');
  appendNumber(bits, out);
  return true;
}

// Of the path as it stands, or before rewrites.
bool Piece::appendQuery(const FormatContext& context, std::string* out) const {
  const size_t mark = context.path.find('?');
  if (mark == std::string_view::npos) return false;
  const std::string_view query = context.path.substr(mark + 1);
  if (is_variant_) {
    http::appendPercentDecoded(query, out);
  } else {
    out->append(query);
  }
  return true;
}

// The first one there is, from the first proxy on.
bool Piece::appendClientCertValue(const FormatContext& context, std::string* out) const {
  static const HeaderName kName{"x-forwarded-client-cert"};
  std::string_view header;
  if (!FormatContext::find(context.request_headers, kName, &header)) return false;
  while (!header.empty()) {
    std::string_view element;
    if (!takePart(&header, ',', &element)) return false;
    while (!element.empty()) {
      std::string_view pair;
      takePart(&element, ';', &pair);
      const size_t equals = std::min(pair.find('='), pair.size());
      if (!equalsIgnoreCase(trimmed(pair.substr(0, equals)), argument_)) continue;
      appendUnquoted(trimmed(pair.substr(std::min(equals + 1, pair.size()))), out);
      return true;
    }
  }
  return false;
}

bool Piece::appendServerName(const FormatContext& context, std::string* out) const {
  static const HeaderName kOriginalHost{
      std::string(http::headerName(http::HeaderId::XEnvoyOriginalHost))};
  const std::string_view argument = argument_;
  const auto server_name = [&] {
    out->append(context.requested_server_name);
    return !context.requested_server_name.empty();
  };
  const auto host = [&] {
    std::string_view name;
    if (!argument.ends_with(":HOST") &&
        FormatContext::find(context.request_headers, kOriginalHost, &name)) {
      out->append(name);
      return true;
    }
    if (argument.ends_with(":ORIG") || context.authority.empty()) return false;
    out->append(context.authority);
    return true;
  };
  return argument.starts_with("HOST") ? host() || server_name() : server_name() || host();
}

// Null: none of them has a value.
const Piece* Piece::chosen(const FormatContext& context) const {
  std::string value;
  for (const Piece& piece : alternatives_) {
    if (piece.append(context, &value)) return &piece;
  }
  return nullptr;
}

}  // namespace fairlead::format
