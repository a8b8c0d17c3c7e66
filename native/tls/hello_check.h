// What a client says first, before OpenSSL has it: whether the library of the real server takes it,
// and with which alert and which words it does not. What is left to OpenSSL is what the two agree
// on, and what is not broken. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tls/failure.h"

namespace fairlead::tls {

// What a server takes.
struct HelloRules {
  uint16_t min_version = 0;
  uint16_t max_version = 0;
  bool has_protocols = false;
  // Who asks for certificates takes larger messages.
  bool asks_for_certificate = false;
};

struct HelloCheck {
  enum class Outcome : uint8_t {
    // More is needed to know.
    Wait,
    // A handshake can begin.
    Begin,
    Refuse,
    // The client has said goodbye, which is no error.
    Goodbye,
  };
  Outcome outcome = Outcome::Wait;
  // When refused: 0: nothing is said to the client.
  uint8_t alert = 0;
  // When refused: the version had been agreed on.
  uint16_t version = 0;
  // Unless refused: bytes before the hello that say nothing, and that OpenSSL does not take.
  size_t skipped = 0;
  // When refused; the first without a number ends them.
  std::array<LibraryError, 3> errors = {};
};

// `bytes`: all that has come so far, or the beginning of it.
HelloCheck checkHello(std::string_view bytes, const HelloRules& rules);

}  // namespace fairlead::tls
