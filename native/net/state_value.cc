#include "net/state_value.h"

#include <charconv>
#include <utility>

#include "base/text.h"
#include "net/state_keys.h"

namespace fairlead::net {

namespace {

using Kind = plan::FilterStateValue::Kind;
using Form = FilterState::Form;

bool isOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (equalsIgnoreCase(text, word)) return true;
  }
  return false;
}

bool keep(std::string value, std::string* text) {
  *text = std::move(value);
  return true;
}

template <typename Number>
bool readNumber(std::string* text) {
  Number value = 0;
  const char* const begin = text->data() + (text->starts_with('+') ? 1 : 0);
  const char* const end = text->data() + text->size();
  const auto [next, error] = std::from_chars(begin, end, value);
  return error == std::errc() && next == end && keep(std::to_string(value), text);
}

bool readBool(std::string* text) {
  if (isOneOf(*text, {"true", "t", "yes", "y", "1"})) return keep("true", text);
  return isOneOf(*text, {"false", "f", "no", "n", "0"}) && keep("false", text);
}

bool readAddress(std::string* text) {
  const std::optional<Address> address = parseAddressWithPort(*text);
  return address && keep(address->text(), text);
}

// The real server's addresses always have a port.
bool readIp(std::string* text) {
  const bool is_v6 = text->find(':') != std::string::npos;
  const std::string with_port = is_v6 ? "[" + *text + "]:0" : *text + ":0";
  Address address;
  return parseIp(*text, &address) && parseIp(with_port, &address) && keep(address.text(), text);
}

// Names by commas as TLS has them, each with its length before it; empty: they cannot be said.
std::string offeredByAlpn(std::string_view names) {
  std::string wire;
  for (;;) {
    const std::string_view name = names.substr(0, names.find(','));
    if (name.empty() || name.size() > UINT8_MAX) return {};
    wire.append(1, static_cast<char>(name.size())).append(name);
    if (name.size() == names.size()) return wire.size() <= UINT16_MAX ? wire : std::string();
    names.remove_prefix(name.size() + 1);
  }
}

}  // namespace

bool readStateValue(Kind kind, std::string* text, Form* form) {
  *form = Form::Quoted;
  switch (kind) {
    case Kind::Text:
      return true;
    case Kind::SomeText:
      return !text->empty();
    case Kind::UntoldText:
      *form = Form::Untold;
      return true;
    case Kind::Bool:
      *form = Form::Bare;
      return readBool(text);
    case Kind::IsTrue:
      *form = Form::Bare;
      return keep(*text == "true" ? "true" : "false", text);
    case Kind::SilentTrue:
      *form = Form::Hidden;
      return keep(*text == "true" ? "true" : "false", text);
    case Kind::Uint32:
      *form = Form::Bare;
      return readNumber<uint32_t>(text);
    case Kind::Uint64:
      *form = Form::Digits;
      return readNumber<uint64_t>(text);
    case Kind::Address:
      *form = Form::Address;
      return readAddress(text);
    case Kind::Ip:
      *form = Form::Untold;
      return readIp(text);
    case Kind::Protocols:
      *form = Form::Hidden;
      return keep(offeredByAlpn(*text), text);
  }
  return false;
}

std::optional<Address> parseAddressWithPort(std::string_view text) {
  Address address;
  const bool has_port = text.rfind(':') != std::string_view::npos && !text.ends_with(']');
  const bool is_bare = text.find(':') != text.rfind(':') && !text.starts_with('[');
  const bool is_valid = has_port && !is_bare && parseIp(text, &address);
  return is_valid ? std::optional(address) : std::nullopt;
}

bool appendAddressField(std::string_view text, std::string_view field, std::string* out) {
  const size_t mark = text.rfind(':');
  if (mark == std::string_view::npos) return false;
  std::string_view ip = text.substr(0, mark);
  if (ip.starts_with('[')) ip = ip.substr(1, ip.size() - 2);
  if (field != "ip" && field != "port") return false;
  out->append(field == "ip" ? ip : text.substr(mark + 1));
  return true;
}

std::optional<Address> destinationKept(const FilterState* request, const FilterState* connection) {
  const std::string* const text = findAs(Form::Address, kDestinationKey, request, connection);
  return text ? parseAddressWithPort(*text) : std::nullopt;
}

}  // namespace fairlead::net
