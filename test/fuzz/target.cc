// Any target of a request: taken, with views into it and an authority of proper bytes, or refused
// with details.
#include "http/target.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

using fairlead::http::Target;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto inside = [&](std::string_view view) {
    return view.data() >= input.data() && view.data() + view.size() <= input.data() + input.size();
  };
  for (const std::string_view method : {"GET", "OPTIONS", "CONNECT"}) {
    Target target;
    const std::string_view details = parseTarget(method, input, &target);
    if (!details.empty()) {
      FL_CHECK(details.starts_with("http1."));
      continue;
    }
    FL_CHECK(fairlead::http::isValidAuthority(target.authority));
    FL_CHECK(target.path.empty() == (target.form == Target::Form::Authority));
    FL_CHECK(target.path.empty() || target.path == "/" || inside(target.path));
    const bool named =
        target.form == Target::Form::Absolute || target.form == Target::Form::Authority;
    FL_CHECK(named == !target.authority.empty());
    FL_CHECK(!named || inside(target.authority));
    FL_CHECK(target.authority.find('@') == std::string_view::npos);
  }
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  return {"/a?b",
          "*",
          "http://u:p@x.test:80/a?b",
          "https://[::1]:8443",
          "a.test:443",
          "[::1]:80",
          "http://x?q",
          "ws://a/"};
}
