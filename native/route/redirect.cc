#include "route/redirect.h"

#include <charconv>
#include <cstring>
#include <initializer_list>

namespace fairlead::route {

namespace {

std::string_view concatenate(std::initializer_list<std::string_view> parts, Arena& arena) {
  size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  char* const to = arena.allocate(size);
  char* at = to;
  for (const std::string_view part : parts) {
    if (part.empty()) continue;
    std::memcpy(at, part.data(), part.size());
    at += part.size();
  }
  return {to, size};
}

// The request's host without a port that must go: when another takes its place, or when it is the
// default of a scheme that is left.
std::string_view hostFor(const RequestView& request, std::string_view new_scheme, bool new_port) {
  const std::string_view host = request.authority;
  size_t colon = host.rfind(':');
  if (host.starts_with('[')) {
    colon = host.rfind("]:");
    if (colon != std::string_view::npos) ++colon;
  }
  if (colon == std::string_view::npos) return host;
  const std::string_view port = host.substr(colon);
  const bool was_default =
      new_scheme != request.scheme && ((request.scheme == "https" && port == ":443") ||
                                       (request.scheme == "http" && port == ":80"));
  return new_port || was_default ? host.substr(0, colon) : host;
}

}  // namespace

Result<Redirect> Redirect::build(const plan::Redirect& plan) {
  Redirect redirect;
  redirect.plan = plan;
  redirect.plan.path_rewrite.reset();
  if (plan.path_rewrite) {
    Result<Rewrite> rewrite = Rewrite::build(*plan.path_rewrite);
    if (!rewrite) return rewrite.error();
    redirect.path_rewrite = std::move(rewrite.value());
  }
  return redirect;
}

std::string_view Redirect::location(const RequestView& request, const Match& match,
                                    Arena& arena) const {
  std::string_view scheme = plan.https ? "https" : request.scheme;
  if (!plan.scheme.empty()) scheme = plan.scheme;
  char port[16] = ":";
  size_t port_size = 0;
  if (plan.port > 0) {
    const char* end = std::to_chars(port + 1, port + sizeof(port), plan.port).ptr;
    port_size = static_cast<size_t>(end - port);
  }
  // A host of the configuration stands as it is; the port only ever follows it.
  const std::string_view host =
      plan.host.empty() ? hostFor(request, scheme, plan.port > 0) : std::string_view(plan.host);
  const std::string_view new_path = path(request, match, arena);
  const std::string_view slash = new_path.starts_with('/') ? "" : "/";
  return concatenate({scheme, "://", host, {port, port_size}, slash, new_path}, arena);
}

std::string_view Redirect::path(const RequestView& request, const Match& match,
                                Arena& arena) const {
  std::string_view path = request.path;
  if (!plan.path.empty()) {
    // A query of its own replaces the request's, and is never stripped.
    if (plan.path.find('?') != std::string::npos) return plan.path;
    const size_t query = path.find('?');
    const bool keeps_query = !plan.strip_query && query != std::string_view::npos;
    return keeps_query ? arena.join(plan.path, path.substr(query)) : std::string_view(plan.path);
  }
  path = path_rewrite.apply(request, path, match, arena);
  return plan.strip_query ? path.substr(0, path.find('?')) : path;
}

std::string_view ownLocation(const RequestView& request, Arena& arena) {
  return concatenate({request.scheme, "://", request.authority, request.path}, arena);
}

std::string_view tlsLocation(const RequestView& request, Arena& arena) {
  return concatenate({"https://", request.authority, request.path}, arena);
}

}  // namespace fairlead::route
