// What codecs are told by the configuration. Values; shared by all workers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "match/string_matcher.h"
#include "net/timer_wheel.h"
#include "plan/plan.gen.h"

namespace fairlead::http {

struct HeadLimits {
  // Bytes of the head, request line included.
  uint32_t max_head_bytes = 60 * 1024;
  // Headers, `host` included.
  uint32_t max_headers = 100;
  // Those whose names have an underscore do not count: whoever reads the head drops them.
  bool spares_underscores = false;
  // Of requests in HTTP/1: methods may be any tokens, not only those that are known.
  bool takes_any_method = false;

  bool spares(std::string_view name) const {
    return spares_underscores && name.find('_') != std::string_view::npos;
  }
};

// Of connections of clients. 0 of a time: none.
struct ServerSettings {
  HeadLimits limits = {};
  // http_protocol_options.allow_chunked_length: with both, chunked wins and the length is dropped.
  bool allow_chunked_length = false;
  bool accept_http_10 = false;
  // http_protocol_options.allow_absolute_url: a target that is a whole URL is taken for a path.
  bool refuses_absolute_urls = false;
  // A target with the scheme https comes over TLS, or is refused.
  bool refuses_clear_https = false;
  // A client that begins as HTTP/2 does is spoken to so.
  bool detects_http2 = false;
  // Outlives all that are told of it; null: HTTP/2 is never spoken.
  const plan::Http2Options* http2_options = nullptr;
  bool enable_trailers = false;
  // HTTP/1 header names are written as "Content-Type".
  bool proper_case_words = false;
  // What HTTP/1 wrote its headers' names like is told; null: it is not.
  const plan::PreserveCase* preserve_case = nullptr;
  // 0: closes at once.
  net::Millis delayed_close_ms = 1000;
  net::Millis idle_timeout_ms = 0;
  // What HTTP/1 asks for by `upgrade` and is taken for not asked for; null: nothing is.
  const std::vector<match::StringMatcher>* ignored_upgrades = nullptr;
  // From the first byte of a head to its last.
  net::Millis head_timeout_ms = 0;
  // Of HTTP/2: an answer that is composed whole, and whose client takes nothing of it.
  net::Millis flush_timeout_ms = 0;
  // Its times stay as they are, whatever the overload manager says.
  bool bypasses_overload = false;
};

// Of connections to hosts. 0: none, or no limit.
struct ClientSettings {
  HeadLimits limits = {};
  bool enable_trailers = false;
  // As of clients.
  bool proper_case_words = false;
  const plan::PreserveCase* preserve_case = nullptr;
  net::Millis connect_timeout_ms = 5000;
  net::Millis idle_timeout_ms = 0;
  net::Millis max_duration_ms = 0;
  // Of 10,000ths of that: chance adds up to so much.
  uint32_t max_duration_jitter = 0;
  uint32_t max_requests = 0;
  // Of HTTP/1: requests have whole URLs.
  bool sends_whole_url = false;
  // As of clients.
  bool allow_chunked_length = false;

  // How long a connection is used for, of those that it is said for.
  net::Millis someDuration(uint64_t seed) const {
    if (max_duration_jitter == 0) return max_duration_ms;
    return max_duration_ms + Random(seed).below(max_duration_ms * max_duration_jitter / 10'000 + 1);
  }
  // Null: HTTP/2 is not spoken.
  const plan::Http2Options* http2 = nullptr;
};

}  // namespace fairlead::http
