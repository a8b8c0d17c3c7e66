#include "filters/http/oauth2.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/base64.h"
#include "base/hex.h"
#include "base/wall_clock.h"
#include "filters/http/oauth2_callback.h"
#include "filters/http/oauth2_client.h"
#include "filters/http/oauth2_session.h"
#include "log/log.h"
#include "tls/cipher.h"
#include "tls/hmac.h"

namespace fairlead::filters {

namespace {

using OAuth2Counter = OAuth2Settings::Counter;
using OAuth2Texts = std::vector<std::string>;

constexpr std::string_view kStatusHeader = "x-envoy-oauth-status";
constexpr std::string_view kReasonHeader = "x-envoy-oauth-failure-reason";

// Of one request.
class OAuth2 final : public HttpFilter, private calls::CallOwner {
 public:
  OAuth2(const OAuth2Settings* settings, FilterMemory& memory, const FilterScope& scope,
         FilterPlace& place)
      : settings_(settings), memory_(memory), scope_(scope), place_(place), call_(*this) {
    if (settings) session_.emplace(*settings, scope.worker);
  }

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView& view,
                             bool) override {
    // Nobody but this filter says these.
    head.headers.remove(kStatusHeader);
    head.headers.remove(kReasonHeader);
    if (!settings_) return FilterStatus::Continue;
    if (settings_->passes(view)) {
      count(OAuth2Counter::OauthPassthrough);
      return FilterStatus::Continue;
    }
    if (!settings_->hasSecrets(scope_.worker)) return refuseFor("OAuth2 secrets are not ready");
    readHead(head, view);
    if (settings_->isSignoutPath(path_)) return signOut();
    const bool is_callback = settings_->isRedirectPath(path_);
    if (isLoggedIn(head)) {
      if (is_callback) return returnFromRace();
      hideFlow();
      writeCookies(head.headers);
      return FilterStatus::Continue;
    }
    return is_callback ? exchangeCode() : logIn(head);
  }
  FilterStatus onRequestData(std::string_view, bool) override {
    return call_.isActive() ? FilterStatus::Pause : FilterStatus::Continue;
  }
  FilterStatus onRequestTrailers(http::HeaderMap&) override {
    return call_.isActive() ? FilterStatus::Pause : FilterStatus::Continue;
  }
  void onRequestHeadReleased(http::RequestHead& head, Arena&) override {
    if (has_failed_) tellFailure(head.headers);
    if (is_renewed_) forwardTokens(head.headers);
    if (has_failed_ || is_renewed_) writeCookies(head.headers);
  }
  FilterStatus onResponseHead(uint16_t, http::HeaderMap& headers, bool, Arena&) override {
    for (const std::string& cookie : cookies_out_) {
      headers.add(http::HeaderId::Other, "set-cookie", cookie);
    }
    return FilterStatus::Continue;
  }
  LocalReply answer() const override { return reply_; }
  void onEnd() override { call_.cancel(); }

 private:
  // ---- the request ----

  void readHead(http::RequestHead& head, const route::RequestView& view) {
    const plan::OAuth2& plan = settings_->plan;
    jar_ = CookieJar(head.headers);
    had_cookies_ = !jar_.empty();
    if (session_->read(&jar_)) writeCookies(head.headers);
    if (!plan.preserve_authorization_header) head.headers.remove(http::HeaderId::Authorization);
    if (!plan.id_token_header.empty()) {
      head.headers.remove(std::string_view(plan.id_token_header));
      if (plan.id_token_header == "cookie") jar_.clear();
    }
    host_ = memory_.keep(view.authority);
    path_ = memory_.keep(view.path);
    scheme_ = memory_.keep(view.scheme);
    allows_failed_ = !settings_->isRedirectPath(path_) && settings_->allowsFailed(view);
    denies_redirect_ = settings_->deniesRedirect(view);
  }

  bool isLoggedIn(http::RequestHead& head) {
    if (!session_->isValid(jar_, host_, wallClockMicros())) return false;
    const plan::OAuth2& plan = settings_->plan;
    count(OAuth2Counter::OauthSuccess);
    forward(head.headers, jar_.valueOf(plan.bearer_token->name), jar_.valueOf(plan.id_token->name));
    return true;
  }

  void forward(http::HeaderMap& headers, std::string_view access, std::string_view id) {
    const plan::OAuth2& plan = settings_->plan;
    if (plan.forward_bearer_token && !access.empty()) {
      headers.set(http::HeaderId::Authorization, memory_.arena().join("Bearer ", access));
    }
    const std::string& header = plan.id_token_header;
    if (header.empty() || id.empty()) return;
    if (header == "authorization") {
      headers.set(http::HeaderId::Authorization, memory_.arena().join("Bearer ", id));
    } else {
      headers.remove(std::string_view(header));
      headers.add(http::internHeader(header), header, memory_.keep(id));
    }
  }
  void forwardTokens(http::HeaderMap& headers) {
    forward(headers, session_->tokens().access, session_->tokens().id);
  }

  // What is of logins alone is nothing for hosts.
  void hideFlow() {
    const plan::OAuth2& plan = settings_->plan;
    for (const auto* const cookie :
         {plan.hmac.get(), plan.expires.get(), plan.refresh_token.get()}) {
      jar_.erase(cookie->name);
    }
    jar_.eraseFlow(plan.nonce->name);
    jar_.eraseFlow(plan.code_verifier->name);
  }
  void writeCookies(http::HeaderMap& headers) {
    if (had_cookies_ || !jar_.empty()) {
      headers.set(http::HeaderId::Cookie, memory_.keep(jar_.text()));
    }
  }

  std::string formatted(const format::Format& format) const {
    format::FormatContext context;
    place_.describe(&context);
    std::string text;
    format.appendLine(context, &text);
    return text;
  }

  // ---- without a login ----

  FilterStatus logIn(http::RequestHead& head) {
    const plan::OAuth2& plan = settings_->plan;
    const std::string_view refresh = jar_.valueOf(plan.refresh_token->name);
    if (plan.use_refresh_token && !refresh.empty()) return refreshTokens(head, refresh);
    if (allows_failed_) {
      fail("Unauthorized, and forwarding as unauthorized because OAuth failure is allowed: " +
           std::string(path_));
      tellFailure(head.headers);
      writeCookies(head.headers);
      return FilterStatus::Continue;
    }
    if (denies_redirect_) {
      return refuse("Unauthorized, and redirecting to OAuth server is not allowed: " +
                    std::string(path_));
    }
    prepareRedirect();
    redirect();
    return FilterStatus::Answer;
  }

  // What is formatted of the request, while it is there.
  void prepareRedirect() {
    base_url_ =
        settings_->original_request_uri
            ? formatted(*settings_->original_request_uri)
            : std::string(scheme_ == "http" ? "http" : "https") + "://" + std::string(host_);
    redirect_uri_ = formatted(settings_->redirect_uri);
  }

  void redirect() {
    if (!settings_->isAllowedUrl(base_url_)) {
      refuse("authority or original_request_uri failed domain allow-list validation: " + base_url_);
      return;
    }
    if (!settings_->isAllowedUrl(redirect_uri_)) {
      refuse("redirect_uri failed domain allow-list validation: " + redirect_uri_);
      return;
    }
    const plan::OAuth2& plan = settings_->plan;
    const std::string flow = hexOf(tls::randomBytes(8));
    const std::string token = csrfTokenOf(settings_->hmacSecret(scope_.worker), flow);
    const std::string verifier = encodeBase64Url(tls::randomBytes(32));
    const std::string sealed = session_->sealed(verifier);
    // Older servers know the names without a suffix alone.
    for (const std::string_view suffix : {std::string_view(flow), std::string_view()}) {
      cookies_out_.push_back(
          session_->flowCookie(*plan.nonce, suffix, token, plan.csrf_token_expires_s));
    }
    for (const std::string_view suffix : {std::string_view(flow), std::string_view()}) {
      cookies_out_.push_back(
          session_->flowCookie(*plan.code_verifier, suffix, sealed, plan.code_verifier_expires_s));
    }
    http::Query query = settings_->authorization_query;
    query.overwrite("state", OAuth2State::code(base_url_ + std::string(path_), token, flow));
    query.overwrite("redirect_uri", http::percentEncoded(redirect_uri_));
    query.overwrite("code_challenge",
                    encodeBase64Url(tls::digestOf(tls::Digest::Sha256, verifier)));
    query.overwrite("code_challenge_method", "S256");
    sendTo(plan.authorization_base + query.text() + plan.authorization_suffix,
           "oauth.missing_credentials");
    count(OAuth2Counter::OauthUnauthorizedRq);
  }

  FilterStatus signOut() {
    const plan::OAuth2& plan = settings_->plan;
    session_->signOut(jar_, &cookies_out_);
    const std::string root = std::string(scheme_) + "://" + std::string(host_) + "/";
    std::string to = root;
    if (!plan.end_session_endpoint.empty()) {
      to = plan.end_session_endpoint +
           "?id_token_hint=" + std::string(jar_.valueOf(plan.id_token->name)) +
           "&client_id=" + plan.client_id;
      if (!plan.tells_no_post_logout_uri) {
        to += "&post_logout_redirect_uri=" +
              http::percentEncoded(settings_->post_logout_redirect_uri
                                       ? formatted(*settings_->post_logout_redirect_uri)
                                       : root);
      }
    }
    sendTo(std::move(to), "oauth.sign_out");
    return FilterStatus::Answer;
  }

  // ---- back from the provider ----

  bool readCallback() {
    callback_ = OAuth2Callback::read(*settings_, settings_->hmacSecret(scope_.worker), path_, jar_);
    return callback_.why.empty();
  }

  // A client that has logged in meanwhile.
  FilterStatus returnFromRace() {
    if (!readCallback()) return refuse(std::move(callback_.why));
    const std::string_view path = pathOfUrl(callback_.original_url);
    if (settings_->isRedirectPath(path)) {
      return refuse("State url query params matches the redirect path matcher: " +
                    std::string(path));
    }
    session_->deleteFlow(callback_.flow, &cookies_out_);
    sendTo(callback_.original_url, "oauth.race_redirect");
    return FilterStatus::Answer;
  }

  FilterStatus exchangeCode() {
    if (!readCallback()) return refuse(std::move(callback_.why));
    const std::string_view sealed =
        flowValueOf(jar_, settings_->plan.code_verifier->name, callback_.flow);
    if (sealed.empty()) return refuse("Code verifier cookie is missing in the request");
    std::string verifier;
    if (const char* const why = session_->unseal(sealed, &verifier)) {
      return refuse("Failed to decrypt code verifier: " + std::string(sealed) + ", error: " + why);
    }
    const OAuth2Client client(*settings_, scope_.worker);
    const Result<std::string> credential = client.credential();
    if (!credential) {
      return refuse("Failed to obtain client credential: " + credential.error().message);
    }
    if (!hasEndpoint()) return refuse("Token endpoint cluster not found");
    client.askByCode(call_, *scope_.calls, credential.value(), callback_.code,
                     formatted(settings_->redirect_uri), verifier);
    return FilterStatus::Pause;
  }

  bool hasEndpoint() const {
    return scope_.clusters.find(settings_->service->cluster.id()) != nullptr;
  }

  FilterStatus refreshTokens(http::RequestHead& head, std::string_view token) {
    const OAuth2Client client(*settings_, scope_.worker);
    const Result<std::string> credential = client.credential();
    const std::string why =
        !credential     ? "Failed to obtain client credential: " + credential.error().message
        : hasEndpoint() ? std::string()
                        : "Token endpoint cluster not found";
    if (!why.empty()) {
      if (!allows_failed_) return refuse(why);
      fail(why);
      tellFailure(head.headers);
      writeCookies(head.headers);
      return FilterStatus::Continue;
    }
    is_refresh_ = true;
    prepareRedirect();
    client.askByRefreshToken(call_, *scope_.calls, credential.value(), token);
    return FilterStatus::Pause;
  }

  // ---- the token endpoint has answered ----

  void onCallEnd(const calls::CallAnswer& answer) override {
    using Kind = OAuth2Client::Answer::Kind;
    OAuth2Client::Answer read = OAuth2Client(*settings_, scope_.worker).read(answer);
    if (read.kind == Kind::Tokens) {
      session_->renew(std::move(read.tokens), host_, wallClockMicros());
      return is_refresh_ ? onRefreshed() : onLoggedIn();
    }
    if (is_refresh_ && read.kind == Kind::Refused) return onNotRefreshed();
    if (allows_failed_) {
      fail(std::move(read.reason));
      return place_.continueRequest();
    }
    if (!read.more.empty()) read.reason.append(": ").append(read.more);
    refuse(std::move(read.reason));
    place_.answer(reply_);
  }

  void onLoggedIn() {
    if (!session_->write(&cookies_out_)) return refuseLongToken();
    session_->deleteFlow(callback_.flow, &cookies_out_);
    count(OAuth2Counter::OauthSuccess);
    sendTo(callback_.original_url, "oauth.logged_in");
    place_.answer(reply_);
  }

  void onRefreshed() {
    const plan::OAuth2& plan = settings_->plan;
    const OAuth2Tokens& tokens = session_->tokens();
    if (tokens.refresh.empty()) {
      if (const std::string* const old = jar_.find(plan.refresh_token->name)) {
        session_->keepRefreshToken(*old, host_);
      }
    }
    if (!session_->write(&cookies_out_)) return refuseLongToken();
    if (!tokens.access.empty()) jar_.set(plan.bearer_token->name, tokens.access);
    if (!tokens.id.empty()) jar_.set(plan.id_token->name, tokens.id);
    hideFlow();
    is_renewed_ = true;
    count(OAuth2Counter::OauthRefreshtokenSuccess);
    count(OAuth2Counter::OauthSuccess);
    place_.continueRequest();
  }

  void onNotRefreshed() {
    count(OAuth2Counter::OauthRefreshtokenFailure);
    if (allows_failed_) {
      fail(
          "Failed to refresh the access token, and forwarding as unauthorized because OAuth "
          "failure is allowed");
      return place_.continueRequest();
    }
    if (denies_redirect_) {
      refuse("Failed to refresh the access token, and redirecting to OAuth server is not allowed");
    } else {
      redirect();
    }
    place_.answer(reply_);
  }

  void refuseLongToken() {
    cookies_out_.clear();
    refuseFor("OAuth token exceeds the cookie chunk limit");
    place_.answer(reply_);
  }

  // ---- what becomes of it ----

  // It goes on, and its host is told that nobody knows its client.
  void fail(std::string reason) {
    const plan::OAuth2& plan = settings_->plan;
    jar_.erase(plan.bearer_token->name);
    jar_.erase(plan.id_token->name);
    hideFlow();
    has_failed_ = true;
    reason_ = std::move(reason);
    count(OAuth2Counter::OauthAllowFailedPassthrough);
  }
  void tellFailure(http::HeaderMap& headers) const {
    headers.add(http::HeaderId::Other, kStatusHeader, "failed");
    headers.add(http::HeaderId::Other, kReasonHeader, reason_);
  }

  FilterStatus refuse(std::string why) {
    if (!callback_.flow.empty()) session_->deleteFlow(callback_.flow, &cookies_out_);
    return answerWith(401, "OAuth flow failed.", std::move(why));
  }
  // What is needed is not there.
  FilterStatus refuseFor(std::string why) {
    return answerWith(503, "Service Unavailable", std::move(why));
  }
  FilterStatus answerWith(uint16_t status, std::string_view body, std::string why) {
    log::warn(log::Component::Oauth2, "Responding with ",
              status == 401 ? "401 Unauthorized" : "503 Service Unavailable", ". Cause: ", why);
    count(OAuth2Counter::OauthFailure);
    std::ranges::replace_if(why, [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }, '_');
    reply_ = {status, body, memory_.keep(why)};
    return FilterStatus::Answer;
  }
  void sendTo(std::string url, std::string_view details) {
    reply_ = {302, {}, details};
    reply_.location = memory_.keep(url);
    reply_.is_bare = true;
  }

  void count(OAuth2Counter counter) const { settings_->count(scope_.worker, counter); }

  // Null: nobody has to log in.
  const OAuth2Settings* const settings_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  FilterPlace& place_;
  calls::Call call_;
  std::optional<OAuth2Session> session_;
  CookieJar jar_;
  std::string_view host_;
  std::string_view path_;
  std::string_view scheme_;
  OAuth2Callback callback_;
  std::string base_url_;
  std::string redirect_uri_;
  std::string reason_;
  OAuth2Texts cookies_out_;
  LocalReply reply_{401, {}, {}};
  bool had_cookies_ = false;
  bool allows_failed_ = false;
  bool denies_redirect_ = false;
  bool is_refresh_ = false;
  bool is_renewed_ = false;
  bool has_failed_ = false;
};

}  // namespace

BuiltFilter OAuth2Config::build(const plan::OAuth2& plan, const ConfigScope& scope) {
  auto config = std::make_shared<OAuth2Config>();
  if (!plan.disabled) {
    auto settings = OAuth2Settings::build(plan, RouteScope::of(scope), scope.stats);
    if (!settings) return settings.error();
    config->settings_ = std::move(settings.value());
  }
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* OAuth2Config::make(FilterMemory& memory, const FilterScope& scope,
                               FilterPlace& place) const {
  const OAuth2Settings* settings = settings_.get();
  const route::FilterConfigList own = place.routeConfigs();
  if (!own.empty() && OAuth2Settings::of(own.front())) settings = OAuth2Settings::of(own.front());
  return memory.make<OAuth2>(settings, memory, scope, place);
}

}  // namespace fairlead::filters
