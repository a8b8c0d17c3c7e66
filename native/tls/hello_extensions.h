// What is within a client's hello, in the order that the library of the real server looks at it.
// Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "tls/hello_check.h"

namespace fairlead::tls {

struct HelloParts {
  uint16_t version = 0;
  std::string_view ciphers;
  std::string_view compressions;
  std::string_view extensions;
};

// False: it is not one, or has an extension twice.
bool readHello(std::string_view message, HelloParts* parts);

// Refuses, or has the handshake begin.
HelloCheck checkParts(const HelloParts& parts, const HelloRules& rules);

}  // namespace fairlead::tls
