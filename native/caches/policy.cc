#include "caches/policy.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "caches/http_date.h"

namespace fairlead::caches {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderIds;
using http::HeaderMap;

namespace {

constexpr HeaderIds kBypass = {HeaderId::Authorization, HeaderId::IfModifiedSince,
                               HeaderId::IfNoneMatch, HeaderId::IfRange};

constexpr uint16_t kStorable[] = {200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 451, 501};

std::string_view valueOf(const HeaderMap& headers, HeaderId id) {
  const HeaderEntry* const entry = headers.find(id);
  return entry ? entry->value() : std::string_view();
}

// 1970 where there is none.
int64_t dateOf(const HeaderMap& headers, HeaderId id) {
  return parseHttpDate(valueOf(headers, id)).value_or(0);
}

constexpr HeaderIds kBodyHeaders = {HeaderId::ContentLength, HeaderId::Etag, HeaderId::Vary};

}  // namespace

bool mayServe(const http::RequestHead& head, std::string_view scheme) {
  if (head.method != "GET" && head.method != "HEAD") return false;
  if (head.path.empty() || head.authority.data() == nullptr || head.upgrades) return false;
  if (scheme != "http" && scheme != "https") return false;
  if (!head.headers.mayHave(kBypass)) return true;
  return std::ranges::none_of(head.headers,
                              [](const HeaderEntry& entry) { return kBypass.has(entry.id); });
}

// A part of an answer is no answer to who wants all of it: 206 is not stored (RFC 9111 §3.3).
bool mayStore(uint16_t status, const HeaderMap& headers, const ResponseDirectives& says,
              const VaryRules& vary) {
  if (says.no_store || std::ranges::find(kStorable, status) == std::end(kStorable)) return false;
  const bool says_how_long =
      says.must_validate || says.max_age_s ||
      (headers.find(HeaderId::Date) != nullptr && headers.find(HeaderId::Expires) != nullptr);
  return says_how_long && vary.allows(headers);
}

int64_t ageOf(const HeaderMap& stored, uint64_t stored_at_us, uint64_t now_us) {
  constexpr int64_t kSecond = 1'000'000;
  const auto stored_us = static_cast<int64_t>(stored_at_us);
  // A date that is far away is no reason to count around.
  constexpr int64_t kFarthest = int64_t{1} << 40;
  const int64_t date_s = std::clamp(dateOf(stored, HeaderId::Date), -kFarthest, kFarthest);
  const std::string_view said = trimmed(valueOf(stored, HeaderId::Age));
  int64_t age_s = 0;
  const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), age_s);
  if (error != std::errc() || end != said.data() + said.size()) age_s = 0;
  age_s = std::clamp(age_s, -kFarthest, kFarthest);
  const int64_t apparent_us = std::max<int64_t>(0, stored_us - date_s * kSecond);
  const int64_t initial_us = std::max(apparent_us, age_s * kSecond);
  return (initial_us + static_cast<int64_t>(now_us) - stored_us) / kSecond;
}

bool needsValidation(const HeaderMap& stored, int64_t age_s, const RequestDirectives& request) {
  const ResponseDirectives says = ResponseDirectives::of(stored);
  if (says.must_validate || request.must_validate) return true;
  if (request.max_age_s && *request.max_age_s < age_s) return true;
  const int64_t lifetime_s =
      says.max_age_s.value_or(dateOf(stored, HeaderId::Expires) - dateOf(stored, HeaderId::Date));
  if (age_s > lifetime_s) {
    const bool is_wanted = request.max_stale_s && *request.max_stale_s > age_s - lifetime_s;
    return says.no_stale || !is_wanted;
  }
  return request.min_fresh_s && *request.min_fresh_s > lifetime_s - age_s;
}

void askForChange(const HeaderMap& stored, HeaderMap& request) {
  if (const HeaderEntry* const etag = stored.find(HeaderId::Etag)) {
    request.set(HeaderId::IfNoneMatch, etag->value());
  }
  const std::string_view modified = valueOf(stored, HeaderId::LastModified);
  const bool is_date = parseHttpDate(modified).value_or(0) != 0;
  request.set(HeaderId::IfModifiedSince, is_date ? modified : valueOf(stored, HeaderId::Date));
}

bool isAboutStored(const HeaderMap& not_modified, const HeaderMap& stored) {
  const HeaderEntry* const etag = not_modified.find(HeaderId::Etag);
  if (!etag) return true;
  const HeaderEntry* const known = stored.find(HeaderId::Etag);
  return known && known->value() == etag->value();
}

void completeNotModified(const HeaderMap& stored, HeaderMap& not_modified) {
  not_modified.remove(HeaderId::ContentLength);
  const uint32_t own = not_modified.size();
  for (const HeaderEntry& entry : stored) {
    if (entry.name_size == 0 || entry.id == HeaderId::Age) continue;
    const auto end = not_modified.begin() + own;
    const bool is_said = std::any_of(not_modified.begin(), end, [&](const HeaderEntry& other) {
      return other.name() == entry.name();
    });
    if (!is_said) not_modified.add(entry.id, entry.name(), entry.value());
  }
}

void freshenStored(const HeaderMap& fresh, HeaderMap& stored) {
  const auto stays = [](const HeaderEntry& entry) {
    return entry.name_size == 0 || kBodyHeaders.has(entry.id) || entry.name() == "content-range";
  };
  // An age that the answer does not say is not its own.
  stored.remove(HeaderId::Age);
  for (const HeaderEntry& entry : fresh) {
    if (!stays(entry)) stored.remove(entry.name());
  }
  for (const HeaderEntry& entry : fresh) {
    if (!stays(entry)) stored.add(entry.id, entry.name(), entry.value());
  }
}

void removeConnectionHeaders(HeaderMap& headers) {
  if (!headers.mayHave(http::kConnectionHeaders)) return;
  for (const HeaderEntry& connection : headers) {
    if (connection.id != HeaderId::Connection) continue;
    forEachToken(connection.value(), [&](std::string_view name) {
      for (HeaderEntry& entry : headers) {
        if (entry.id != HeaderId::Connection && equalsIgnoreCase(entry.name(), name)) {
          entry.remove();
        }
      }
      return true;
    });
  }
  for (HeaderEntry& entry : headers) {
    if (http::kConnectionHeaders.has(entry.id)) entry.remove();
  }
}

std::string keyOf(std::string_view scheme, std::string_view authority, std::string_view path) {
  // No part of it holds an end of line.
  std::string key;
  key.reserve(scheme.size() + authority.size() + path.size() + 2);
  key.append(scheme).append("\n").append(authority).append("\n").append(path);
  return key;
}

}  // namespace fairlead::caches
