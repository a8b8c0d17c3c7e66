// Why a handshake or a connection failed, in the words and numbers that the real server's logs
// have.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fairlead::tls {

// As the real server's library numbers and names it; without a name: an alert of the peer's, which
// is 1000 and its number.
struct LibraryError {
  unsigned number = 0;
  const char* name = nullptr;
};
// As a Failure's text; the first without a number ends them.
std::string textOf(std::span<const LibraryError> errors);

struct Failure {
  // "TLS_error:|268435703:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER:TLS_error_end"; empty:
  // there was no error.
  std::string text;
  bool has_errors = false;
  // It is counted elsewhere: as a failed verification, or as what the socket had.
  bool is_counted = false;
  // The peer has not shown a certificate that it must show.
  bool lacks_certificate = false;
  // What came is not TLS at all.
  bool is_wrong_version = false;
};

// Takes all that OpenSSL has to say about what just failed on this thread. `details`: what is known
// of a certificate that was not found to be good; may be empty.
// `awaits_hello`: of a client that has not heard from the server before.
Failure takeFailure(std::string_view details, bool awaits_hello = false);

// As a Failure's text, of what the socket had: an errno.
std::string textOfSocket(int error);

// The same text for as long as the process lives: there are few of them. After many the last ones
// are told by a shorter word.
std::string_view keepText(std::string text);

}  // namespace fairlead::tls
