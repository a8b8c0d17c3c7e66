#include "route/rewrite.h"

#include <algorithm>

#include "base/line_ends.h"

namespace fairlead::route {

namespace {

// Of a path: what a prefix rewrite replaces.
size_t matchedBytes(const Match& match, std::string_view path) {
  switch (match.pathKind()) {
    case Match::PathKind::Prefix:
    case Match::PathKind::Exact:
    case Match::PathKind::SeparatedPrefix:
      return std::min(match.path().size(), path.size());
    case Match::PathKind::Regex:
      return withoutQuery(path).size();
    case Match::PathKind::Connect:
      break;
  }
  return path.size();
}

Result<Regex> loadRegex(const Boxed<plan::RegexRewrite>& plan) {
  return Regex::load(plan && plan->regex ? plan->regex->program : std::string());
}

// The text with each match replaced, by way of a buffer that keeps its memory.
std::string_view replaced(const Regex& regex, std::string_view text, std::string_view substitution,
                          std::string_view tail, Arena& arena) {
  thread_local std::string buffer;
  buffer.clear();
  regex.replaceAll(text, substitution, &buffer);
  if (buffer.empty()) return {};
  return tail.empty() ? arena.copy(buffer) : arena.join(buffer, tail);
}

std::unique_ptr<const format::Format> loadFormat(const Boxed<plan::Format>& plan) {
  return std::make_unique<const format::Format>(plan.value_or(plan::Format()));
}

std::string_view formatted(const format::Format& format, const RequestView& request, Arena& arena) {
  format::FormatContext context;
  request.describe(&context);
  return format.formatTo(context, arena);
}

}  // namespace

Result<Rewrite> Rewrite::build(const plan::PathRewrite& plan) {
  Rewrite rewrite;
  rewrite.kind = plan.kind;
  rewrite.value = plan.value;
  if (plan.kind == Kind::Regex) {
    Result<Regex> regex = loadRegex(plan.regex);
    if (!regex) return regex.error();
    rewrite.regex = std::move(regex.value());
    rewrite.value = plan.regex->substitution;
  }
  if (plan.kind == Kind::Format) rewrite.format = loadFormat(plan.format);
  return rewrite;
}

std::string_view Rewrite::apply(const RequestView& request, std::string_view path,
                                const Match& match, Arena& arena) const {
  switch (kind) {
    case Kind::None:
      return path;
    case Kind::Prefix:
      return arena.join(value, path.substr(matchedBytes(match, path)));
    case Kind::Full:
      return arena.join(value, path.substr(withoutQuery(path).size()));
    case Kind::Format: {
      const std::string_view made = formatted(*format, request, arena);
      if (made.empty()) return path;
      return arena.join(made, path.substr(withoutQuery(path).size()));
    }
    case Kind::Regex: {
      const std::string_view only = withoutQuery(path);
      const std::string_view made = replaced(*regex, only, value, path.substr(only.size()), arena);
      // Nothing is no path: it stays.
      return made.empty() ? path : made;
    }
  }
  return path;
}

Result<HostRewrite> HostRewrite::build(const plan::HostRewrite& plan) {
  HostRewrite rewrite;
  rewrite.kind = plan.kind;
  rewrite.append_x_forwarded_host = plan.append_x_forwarded_host;
  if (plan.kind == Kind::Literal) rewrite.value = plan.value;
  if (plan.kind == Kind::Header) rewrite.header = HeaderName(plan.value);
  if (plan.kind == Kind::PathRegex) {
    Result<Regex> regex = loadRegex(plan.regex);
    if (!regex) return regex.error();
    rewrite.regex = std::move(regex.value());
    rewrite.substitution = plan.regex->substitution;
  }
  if (plan.kind == Kind::Format) rewrite.format = loadFormat(plan.format);
  return rewrite;
}

std::string_view HostRewrite::apply(const RequestView& request, std::string_view host_name,
                                    Arena& arena) const {
  switch (kind) {
    case Kind::None:
      return {};
    case Kind::Literal:
      return value;
    case Kind::Header: {
      std::string_view named;
      return request.header(header, &named) ? named : std::string_view();
    }
    case Kind::Auto:
      return host_name;
    case Kind::Format: {
      format::FormatContext context;
      request.describe(&context);
      std::string text;
      format->appendLine(context, &text);
      blankLineEnds(&text);
      return arena.copy(text);
    }
    case Kind::PathRegex:
      return replaced(*regex, request.pathOnly(), substitution, {}, arena);
  }
  return {};
}

std::string_view joinForwardedHost(std::string_view existing, std::string_view host, Arena& arena) {
  if (host.empty()) return existing;
  // Only the bytes after the last comma count, blanks and all; empty elements do not.
  std::string_view last = existing;
  while (last.ends_with(',')) last.remove_suffix(1);
  if (const size_t comma = last.rfind(','); comma != std::string_view::npos) {
    last.remove_prefix(comma + 1);
  }
  if (last.empty()) return existing.empty() ? host : existing;
  return last == host ? existing : arena.join(existing, ",", host);
}

}  // namespace fairlead::route
