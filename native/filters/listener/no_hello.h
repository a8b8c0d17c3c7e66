// Why the first bytes of a client are no TLS, in the words of the library that the real server has.
// Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fairlead::filters {

struct NoHello {
  // Empty: nobody has a word for it.
  std::string reason;
  // So many of the bytes told.
  size_t looked_at = 0;
};

// `bytes`: all that has come, in which there is no client's hello.
NoHello explainNoHello(std::string_view bytes);

}  // namespace fairlead::filters
