// A client's first bytes, as a proxy before us may have sent them: nothing is read beyond them,
// more bytes never change a header that is whole, and what is taken off is there.
#include "filters/listener/proxy_header.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "filters/listener/http_first_line.h"

using fairlead::filters::FirstLine;
using fairlead::filters::ProxyHeader;
using fairlead::filters::ProxyHeaderState;

namespace {

void checkHeader(std::string_view bytes) {
  ProxyHeader header;
  const ProxyHeaderState state = readProxyHeader(bytes, &header);
  // Once it is whole, it stays what it is; before that nothing else was said.
  for (size_t size = 0; size < bytes.size(); ++size) {
    ProxyHeader part;
    const ProxyHeaderState before = readProxyHeader(bytes.substr(0, size), &part);
    if (before == ProxyHeaderState::Unfinished) continue;
    const bool is_whole = before == ProxyHeaderState::Whole;
    FL_CHECK(is_whole == (state == ProxyHeaderState::Whole));
    if (!is_whole) break;
    FL_CHECK(part.size == header.size && part.tlv_bytes == header.tlv_bytes);
    FL_CHECK(part.source == header.source && part.destination == header.destination);
  }
  if (state != ProxyHeaderState::Whole) return;
  FL_CHECK(header.size <= bytes.size());
  FL_CHECK(mayBeProxyHeader(bytes, header.version));
  FL_CHECK(!header.has_addresses || (header.source.isIp() && header.destination.isIp()));
  std::string_view rest = bytes.substr(header.size);
  rest = rest.substr(0, header.tlv_bytes);
  fairlead::filters::Tlv tlv;
  for (size_t left = rest.size(); takeTlv(&rest, &tlv); left = rest.size()) {
    FL_CHECK(rest.size() + tlv.value.size() + 3 == left);
  }
}

void checkFirstLine(std::string_view bytes) {
  const FirstLine whole = fairlead::filters::readFirstLine(bytes);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const FirstLine part = fairlead::filters::readFirstLine(bytes.substr(0, size));
    if (part == FirstLine::Unfinished) continue;
    FL_CHECK(part == whole);
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  checkHeader(bytes);
  checkFirstLine(bytes);
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  const std::string start("\r\n\r\n\0\r\nQUIT\n", 12);
  const std::string ipv4("\1\2\3\4\5\6\7\10\4\x57\x08\xae", 12);
  return {"PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222\r\nrest",
          "PROXY TCP6 2001:db8::1 ::2 1 65535\r\n",
          "PROXY UNKNOWN\r\n",
          start + std::string("\x21\x11\0\x0c", 4) + ipv4 + "rest",
          start + std::string("\x21\x11\0\x14", 4) + ipv4 + std::string("\xea\0\5value", 8),
          start + std::string("\x21\x21\0\x24", 4) + ipv4 + ipv4 + ipv4,
          start + std::string("\x20\0\0\0", 4),
          "GET /a?b HTTP/1.1\r\n",
          "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"};
}
