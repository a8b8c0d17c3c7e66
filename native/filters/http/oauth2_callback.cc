#include "filters/http/oauth2_callback.h"

#include <utility>

#include "base/arena.h"
#include "base/base64.h"
#include "base/json.h"
#include "base/json_tree.h"
#include "filters/http/header_rules.h"
#include "http/query.h"
#include "tls/hmac.h"

namespace fairlead::filters {

std::string csrfTokenOf(std::string_view secret, std::string_view nonce) {
  return std::string(nonce) + "." + encodeBase64(tls::hmacOf(tls::Digest::Sha256, secret, nonce));
}

std::string_view flowValueOf(const CookieJar& jar, const std::string& name, std::string_view flow) {
  const std::string_view value = jar.valueOf(name + "." + std::string(flow));
  return value.empty() ? jar.valueOf(name) : value;
}

OAuth2State OAuth2State::parse(std::string_view coded) {
  OAuth2State state;
  std::string text;
  if (!decodeBase64Url(coded, &text)) text.clear();
  Arena arena(1024);
  const JsonNode* const root = parseJson(text, arena, JsonRepeats::LastWins);
  if (!root || !root->isObject()) {
    state.why = "State query param is not a valid JSON: " + text;
    return state;
  }
  const JsonNode* const url = root->find("url");
  const JsonNode* const token = root->find("csrf_token");
  if (!url || !token) {
    state.why = "State query param does not contain url or CSRF token: " + text;
    return state;
  }
  if (url->isString()) state.url = url->text;
  if (token->isString()) state.csrf_token = token->text;
  const JsonNode* const flow = root->find("flow_id");
  if (flow && flow->isString()) state.flow = flow->text;
  // It becomes part of cookies' names, and whoever comes back says it.
  if (!state.flow.empty() && !isHeaderName(state.flow)) {
    state.flow.clear();
    state.why = "State query param contains an invalid flow id";
  }
  return state;
}

std::string OAuth2State::code(std::string_view url, std::string_view csrf_token,
                              std::string_view flow) {
  std::string text = "{\"url\":\"";
  appendJsonInside(&text, url);
  text.append("\",\"csrf_token\":\"");
  appendJsonInside(&text, csrf_token);
  text.append("\",\"flow_id\":\"");
  appendJsonInside(&text, flow);
  return encodeBase64Url(text.append("\"}"));
}

namespace {

bool isOurs(const OAuth2Settings& settings, std::string_view secret, const CookieJar& jar,
            const OAuth2State& state) {
  const std::string_view cookie = flowValueOf(jar, settings.plan.nonce->name, state.flow);
  if (cookie.empty() || !tls::areSame(cookie, state.csrf_token)) return false;
  const size_t dot = state.csrf_token.find('.');
  if (dot == std::string::npos) return false;
  return tls::areSame(csrfTokenOf(secret, std::string_view(state.csrf_token).substr(0, dot)),
                      state.csrf_token);
}

}  // namespace

OAuth2Callback OAuth2Callback::read(const OAuth2Settings& settings, std::string_view secret,
                                    std::string_view path, const CookieJar& jar) {
  OAuth2Callback callback;
  const http::Query query = http::Query::of(path, http::Query::Decoding::None);
  const auto state = query.find("state");
  const auto code = query.find("code");
  if (query.find("error")) {
    if (state) callback.checkState(settings, secret, jar, *state);
    callback.why = "OAuth server returned an error: " + query.text();
  } else if (!code || !state) {
    callback.why = "Code or state query param does not exist: " + query.text();
  } else {
    callback.code = *code;
    callback.why = callback.checkState(settings, secret, jar, *state);
  }
  return callback;
}

std::string OAuth2Callback::checkState(const OAuth2Settings& settings, std::string_view secret,
                                       const CookieJar& jar, std::string_view coded) {
  OAuth2State state = OAuth2State::parse(coded);
  if (!state.why.empty()) return state.why;
  // What is said of the flow is only believed with the cookie that goes with it.
  if (!isOurs(settings, secret, jar, state)) return "CSRF token validation failed";
  flow = state.flow;
  if (!isWholeUrl(state.url)) return "State url can not be initialized: " + state.url;
  if (!settings.isAllowedUrl(state.url)) {
    return "State url host is not in the allowed redirect domains: " + state.url;
  }
  original_url = std::move(state.url);
  return {};
}

}  // namespace fairlead::filters
