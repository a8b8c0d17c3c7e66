#include "caches/directives.h"

#include <limits>
#include <string_view>

#include "base/text.h"

namespace fairlead::caches {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;

namespace {

// A number of seconds, which may be quoted. What is none says nothing.
std::optional<int64_t> readSeconds(std::string_view text) {
  if (text.size() > 1 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  uint64_t seconds = 0;
  if (!parseDecimal(text, &seconds)) return std::nullopt;
  if (seconds > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  return static_cast<int64_t>(seconds);
}

// Calls visit(name, argument) for each directive of all headers of that id. False: there was none
// of them, or they say nothing.
template <typename Visit>
bool forEachDirective(const HeaderMap& headers, HeaderId id, Visit visit) {
  if (!headers.mayHave({id})) return false;
  bool says = false;
  for (const HeaderEntry& entry : headers) {
    if (entry.id != id) continue;
    says |= !entry.value().empty();
    forEachToken(entry.value(), [&](std::string_view directive) {
      const size_t equals = directive.find('=');
      const bool has_argument = equals != std::string_view::npos;
      visit(trimmed(directive.substr(0, equals)),
            has_argument ? trimmed(directive.substr(equals + 1)) : std::string_view());
      return true;
    });
  }
  return says;
}

bool is(std::string_view directive, std::string_view name) {
  return equalsIgnoreCase(directive, name);
}

}  // namespace

RequestDirectives RequestDirectives::of(const HeaderMap& headers) {
  RequestDirectives says;
  const bool has_any = forEachDirective(
      headers, HeaderId::CacheControl, [&](std::string_view name, std::string_view argument) {
        if (is(name, "no-cache")) {
          says.must_validate = true;
        } else if (is(name, "no-store")) {
          says.no_store = true;
        } else if (is(name, "max-age")) {
          says.max_age_s = readSeconds(argument);
        } else if (is(name, "min-fresh")) {
          says.min_fresh_s = readSeconds(argument);
        } else if (is(name, "max-stale")) {
          says.max_stale_s =
              argument.empty() ? std::numeric_limits<int64_t>::max() : readSeconds(argument);
        }
      });
  if (has_any) return says;
  forEachDirective(headers, HeaderId::Pragma, [&](std::string_view name, std::string_view) {
    if (is(name, "no-cache")) says.must_validate = true;
  });
  return says;
}

ResponseDirectives ResponseDirectives::of(const HeaderMap& headers) {
  ResponseDirectives says;
  forEachDirective(headers, HeaderId::CacheControl,
                   [&](std::string_view name, std::string_view argument) {
                     if (is(name, "no-cache")) {
                       says.must_validate = true;
                     } else if (is(name, "must-revalidate") || is(name, "proxy-revalidate")) {
                       says.no_stale = true;
                     } else if (is(name, "no-store") || is(name, "private")) {
                       says.no_store = true;
                     } else if (is(name, "s-maxage")) {
                       says.max_age_s = readSeconds(argument);
                     } else if (!says.max_age_s && is(name, "max-age")) {
                       says.max_age_s = readSeconds(argument);
                     }
                   });
  return says;
}

}  // namespace fairlead::caches
