#include "route/action.h"

#include <algorithm>

#include "base/text.h"

namespace fairlead::route {

namespace {

using PathRewriteKind = plan::PathRewrite::Kind;

int slotOf(const std::string& cluster, std::vector<std::string>* names) {
  const auto found = std::find(names->begin(), names->end(), cluster);
  if (found != names->end()) return static_cast<int>(found - names->begin());
  names->push_back(cluster);
  return static_cast<int>(names->size() - 1);
}

Result<ClusterAction> buildClusterAction(const plan::ClusterAction& plan,
                                         std::vector<std::string>* names) {
  ClusterAction action;
  action.plan = plan;
  if (plan.path_rewrite) {
    Result<Rewrite> rewrite = Rewrite::build(*plan.path_rewrite);
    if (!rewrite) return rewrite.error();
    action.path_rewrite = std::move(rewrite.value());
  }
  if (plan.host_rewrite && plan.host_rewrite->regex && plan.host_rewrite->regex->regex) {
    Result<Regex> regex = Regex::load(plan.host_rewrite->regex->regex->program);
    if (!regex) return regex.error();
    action.host_regex = std::move(regex.value());
  }
  if (plan.weighted) {
    action.total_weight = plan.weighted->total_weight;
    action.weight_header = plan.weighted->header_name;
    for (const plan::WeightedCluster& entry : plan.weighted->clusters) {
      Target target;
      target.slot = entry.name.empty() ? -1 : slotOf(entry.name, names);
      target.cluster_header = entry.cluster_header;
      target.weight = entry.weight;
      target.host_rewrite = entry.host_rewrite_literal;
      if (entry.mutations) target.mutations = HeaderMutations(*entry.mutations);
      action.targets.push_back(std::move(target));
    }
  } else {
    Target target;
    target.slot = plan.cluster.empty() ? -1 : slotOf(plan.cluster, names);
    target.cluster_header = plan.cluster_header;
    action.targets.push_back(std::move(target));
  }
  return action;
}

}  // namespace

Result<Rewrite> Rewrite::build(const plan::PathRewrite& plan) {
  Rewrite rewrite;
  rewrite.kind = plan.kind;
  rewrite.value = plan.value;
  if (plan.kind == PathRewriteKind::Regex) {
    const bool has_regex = plan.regex && plan.regex->regex;
    Result<Regex> regex = Regex::load(has_regex ? plan.regex->regex->program : std::string());
    if (!regex) return regex.error();
    rewrite.regex = std::move(regex.value());
    rewrite.value = plan.regex->substitution;
  }
  return rewrite;
}

std::string_view Rewrite::apply(std::string_view path, const Match& match, Arena& arena) const {
  const size_t query_at = path.find_first_of("?#");
  const std::string_view only = path.substr(0, query_at);
  const std::string_view query =
      query_at == std::string_view::npos ? std::string_view() : path.substr(query_at);
  switch (kind) {
    case PathRewriteKind::None:
      return path;
    case PathRewriteKind::Prefix: {
      const size_t matched = std::min(match.path().size(), path.size());
      // A whole match by a regular expression is a prefix of everything.
      const bool whole = match.pathKind() == plan::RouteMatch::PathKind::Regex;
      return arena.join(value, whole ? query : path.substr(matched));
    }
    case PathRewriteKind::Full:
      return arena.join(value, query);
    case PathRewriteKind::Regex: {
      std::string text;
      regex->replaceAll(only, value, &text);
      return arena.join(text, query);
    }
  }
  return path;
}

const Target& ClusterAction::pick(const RequestView& request) const {
  if (targets.size() == 1) return targets[0];
  uint64_t point = request.random;
  std::string_view chosen;
  uint64_t number = 0;
  if (!weight_header.empty() && request.header(weight_header, &chosen) &&
      parseDecimal(chosen, &number)) {
    point = number;
  }
  point %= std::max<uint64_t>(total_weight, 1);
  for (const Target& target : targets) {
    if (point < target.weight) return target;
    point -= target.weight;
  }
  return targets.back();
}

std::string_view Redirect::location(const RequestView& request, const Match& match,
                                    Arena& arena) const {
  std::string text;
  std::string_view scheme = request.scheme;
  if (plan.https) scheme = "https";
  if (!plan.scheme.empty()) scheme = plan.scheme;
  text.append(scheme).append("://");
  std::string_view host = plan.host.empty() ? request.authority : std::string_view(plan.host);
  const size_t colon = host.rfind(':');
  const bool has_port = colon != std::string_view::npos && colon >= host.rfind(']') + 1;
  if (plan.port > 0) {
    text.append(has_port ? host.substr(0, colon) : host).append(":").append(std::to_string(plan.port));
  } else {
    // A port that was the default of the scheme that is left goes.
    const std::string_view port = has_port ? host.substr(colon + 1) : std::string_view();
    const bool changes = scheme != request.scheme;
    const bool was_default = changes && ((request.scheme == "http" && port == "80") ||
                                         (request.scheme == "https" && port == "443"));
    text.append(has_port && was_default && plan.host.empty() ? host.substr(0, colon) : host);
  }
  std::string_view path = request.path;
  if (!plan.path.empty()) {
    // The query is kept unless the new path has one of its own.
    const size_t query_at = path.find('?');
    const bool keeps = plan.path.find('?') == std::string::npos && !plan.strip_query &&
                       query_at != std::string_view::npos;
    path = arena.join(plan.path, keeps ? path.substr(query_at) : std::string_view());
    text.append(path);
    return arena.copy(text);
  }
  path = path_rewrite.apply(path, match, arena);
  if (plan.strip_query) path = path.substr(0, path.find('?'));
  text.append(path);
  return arena.copy(text);
}

Result<Route> Route::build(const plan::Route& plan, std::vector<std::string>* names) {
  Route route;
  route.name = plan.name;
  Result<Match> match = Match::build(plan.match.value_or(plan::RouteMatch()));
  if (!match) return match.error();
  route.match = std::move(match.value());
  if (plan.mutations) route.mutations = HeaderMutations(*plan.mutations);
  if (plan.cluster) {
    Result<ClusterAction> action = buildClusterAction(*plan.cluster, names);
    if (!action) return action.error();
    route.cluster = std::move(action.value());
  } else if (plan.redirect) {
    Redirect redirect{*plan.redirect, {}};
    if (plan.redirect->path_rewrite) {
      Result<Rewrite> rewrite = Rewrite::build(*plan.redirect->path_rewrite);
      if (!rewrite) return rewrite.error();
      redirect.path_rewrite = std::move(rewrite.value());
    }
    route.redirect = std::move(redirect);
  } else if (plan.direct_response) {
    route.direct_response = *plan.direct_response;
  }
  return route;
}

}  // namespace fairlead::route
