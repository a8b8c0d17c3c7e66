// The first message of a TLS client, as far as anybody wants to know before a handshake. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::filters {

struct ClientHello {
  uint16_t version = 0;
  // In lower case; empty: none.
  std::string server_name;
  std::vector<std::string> protocols;
  // In the client's order.
  std::vector<uint16_t> ciphers;
  std::vector<uint16_t> extensions;
  std::vector<uint16_t> groups;
  std::vector<uint8_t> point_formats;
  std::vector<uint16_t> versions;
  std::vector<uint16_t> signatures;
};

enum class HelloRead : uint8_t { Unfinished, Found, NotTls, TooLarge };

// `bytes`: all that has come. A message longer than `max_bytes` is too large.
HelloRead readClientHello(std::string_view bytes, size_t max_bytes, ClientHello* hello);

// MD5 over what it offers, in hex; see github.com/salesforce/ja3.
std::string ja3Of(const ClientHello& hello);
// "t13d1516h2_8daaf6152771_e5627efa2ab1"; see github.com/FoxIO-LLC/ja4.
std::string ja4Of(const ClientHello& hello);

}  // namespace fairlead::filters
