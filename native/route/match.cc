#include "route/match.h"

#include <charconv>

#include "base/text.h"

namespace fairlead::route {

using PathKind = plan::RouteMatch::PathKind;
using HeaderKind = plan::HeaderMatch::Kind;

Result<Match> Match::build(const plan::RouteMatch& plan) {
  Match match;
  match.kind_ = plan.path_kind;
  match.path_ = plan.path;
  match.ignore_case_ = plan.ignore_case;
  match.grpc_ = plan.grpc;
  match.share_millionths_ = plan.runtime_fraction_millionths;
  if (plan.path_kind == PathKind::Regex) {
    Result<Regex> regex = Regex::load(plan.regex ? plan.regex->program : std::string());
    if (!regex) return regex.error();
    match.regex_ = std::move(regex.value());
  }
  for (const plan::HeaderMatch& header : plan.headers) {
    Header entry{header, std::nullopt};
    if (header.kind == HeaderKind::String && header.string_match) {
      Result<StringMatcher> matcher = StringMatcher::build(*header.string_match);
      if (!matcher) return matcher.error();
      entry.matcher = std::move(matcher.value());
    }
    match.headers_.push_back(std::move(entry));
  }
  for (const plan::QueryMatch& query : plan.query_parameters) {
    Query entry{query.name, std::nullopt};
    if (query.string_match) {
      Result<StringMatcher> matcher = StringMatcher::build(*query.string_match);
      if (!matcher) return matcher.error();
      entry.matcher = std::move(matcher.value());
    }
    match.queries_.push_back(std::move(entry));
  }
  match.simple_ = match.headers_.empty() && match.queries_.empty() && !match.grpc_ &&
                  !match.share_millionths_;
  return match;
}

bool Match::matchesPath(const RequestView& request, std::string_view path) const {
  const auto begins = [this](std::string_view text) {
    if (text.size() < path_.size()) return false;
    const std::string_view start = text.substr(0, path_.size());
    return ignore_case_ ? equalsIgnoreCase(start, path_) : start == path_;
  };
  switch (kind_) {
    case PathKind::Prefix:
      // The prefix may reach into the query.
      return begins(path_.find('?') == std::string::npos ? path : request.path);
    case PathKind::Exact:
      return path.size() == path_.size() && begins(path);
    case PathKind::SeparatedPrefix:
      return begins(path) && (path.size() == path_.size() || path[path_.size()] == '/');
    case PathKind::Regex:
      return regex_->fullMatch(path);
    case PathKind::Connect:
      return request.method == "CONNECT";
  }
  return false;
}

bool Match::matchesRest(const RequestView& request) const {
  if (share_millionths_ && request.random % 1'000'000 >= *share_millionths_) return false;
  if (grpc_) {
    std::string_view type;
    if (!request.header("content-type", &type) || !type.starts_with("application/grpc")) {
      return false;
    }
    if (type.size() > 16 && type[16] != '+') return false;
  }
  for (const Header& header : headers_) {
    if (!matchesHeader(header, request)) return false;
  }
  if (!queries_.empty()) {
    const std::string_view text = request.query();
    for (const Query& query : queries_) {
      if (!matchesQuery(query, text)) return false;
    }
  }
  return true;
}

bool Match::matchesHeader(const Header& header, const RequestView& request) {
  std::string_view value;
  bool found = request.header(header.plan.name, &value);
  if (header.plan.kind == HeaderKind::Present) {
    return (found == header.plan.present) != header.plan.invert;
  }
  if (!found && header.plan.treat_missing_as_empty) {
    found = true;
    value = {};
  }
  // A header that is not there fits neither a match nor its inversion.
  if (!found) return false;
  bool fits = false;
  if (header.plan.kind == HeaderKind::Range) {
    int64_t number = 0;
    const char* end = value.data() + value.size();
    const auto parsed = std::from_chars(value.data(), end, number);
    fits = parsed.ec == std::errc() && parsed.ptr == end && number >= header.plan.range_start &&
           number < header.plan.range_end;
  } else {
    fits = header.matcher && header.matcher->matches(value);
  }
  return fits != header.plan.invert;
}

bool Match::matchesQuery(const Query& query, std::string_view text) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    const size_t equals = pair.find('=');
    if (pair.substr(0, equals) == query.name) {
      const std::string_view value =
          equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
      return !query.matcher || query.matcher->matches(value);
    }
    if (pair.size() == text.size()) break;
    text.remove_prefix(pair.size() + 1);
  }
  return false;
}

}  // namespace fairlead::route
