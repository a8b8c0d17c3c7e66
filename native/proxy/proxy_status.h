// proxy-status (RFC 9209): why an answer is the proxy's own, in words that everybody knows. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/response_flags.h"
#include "plan/plan.gen.h"

namespace fairlead::proxy {

// The header's value; empty: there is nothing to tell. `status`: becomes the one that is
// recommended for it, where the configuration wants that.
std::string proxyStatusOf(const plan::ProxyStatus& plan, const format::ResponseFlags& flags,
                          std::string_view details, uint16_t* status);

}  // namespace fairlead::proxy
