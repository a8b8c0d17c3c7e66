#include "filters/http/header_rules.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "http/joined_headers.h"

namespace fairlead::filters {

namespace {

bool isRouting(std::string_view name) {
  return name == "host" || name == ":authority" || name == ":scheme" || name == ":method";
}

bool isAuthority(std::string_view value) {
  return std::ranges::none_of(
      value, [](char c) { return static_cast<uint8_t>(c) <= ' ' || c == '/' || c == '?'; });
}

http::HeaderEntry* findEntry(http::HeaderMap& headers, http::HeaderId id, std::string_view name) {
  return id == http::HeaderId::Other ? headers.find(name) : headers.find(id);
}

void removeAll(http::HeaderMap& headers, http::HeaderId id, std::string_view name) {
  if (id == http::HeaderId::Other) {
    headers.remove(name);
  } else {
    headers.remove(id);
  }
}

void append(http::HeaderEntry& entry, std::string_view value, Arena& arena) {
  if (value.empty()) return;
  entry.setValue(entry.value_size == 0 ? value : arena.join(entry.value(), ",", value));
}

void edit(const HeaderEdit& edit, http::HeaderMap& headers, bool joins, Arena& arena) {
  using Action = HeaderEdit::Action;
  const http::HeaderId id = http::internHeader(edit.name);
  http::HeaderEntry* const found = findEntry(headers, id, edit.name);
  switch (edit.action) {
    case Action::Remove:
      removeAll(headers, id, edit.name);
      return;
    case Action::Append:
      if (found) append(*found, edit.value, arena);
      return;
    case Action::AddIfAbsent:
      if (!found) headers.add(id, edit.name, edit.value);
      return;
    case Action::Add:
      if (found && joins) {
        append(*found, edit.value, arena);
      } else {
        headers.add(id, edit.name, edit.value);
      }
      return;
    case Action::OverwriteIfExists:
      if (!found) return;
      [[fallthrough]];
    case Action::Set:
      removeAll(headers, id, edit.name);
      headers.add(id, edit.name, edit.value);
  }
}

// Null: it is none of these.
std::string_view* pseudoOf(http::RequestHead& head, std::string_view name) {
  if (name == ":path") return &head.path;
  if (name == ":method") return &head.method;
  if (name == ":authority" || name == "host") return &head.authority;
  return nullptr;
}

}  // namespace

Result<HeaderRules> HeaderRules::build(const plan::MutationRules& plan) {
  HeaderRules rules;
  rules.plan_ = plan;
  const auto build = [](const auto& regex, std::optional<Regex>* out) -> std::optional<Error> {
    if (!regex) return std::nullopt;
    Result<Regex> built = Regex::load(regex->program);
    if (!built) return built.error();
    *out = std::move(built.value());
    return std::nullopt;
  };
  if (const auto error = build(plan.allow, &rules.allow_)) return *error;
  if (const auto error = build(plan.disallow, &rules.disallow_)) return *error;
  return rules;
}

bool HeaderRules::allows(std::string_view name) const {
  if (disallow_ && disallow_->fullMatch(name)) return false;
  if (allow_ && allow_->fullMatch(name)) return true;
  if (plan_->disallow_all) return false;
  if (plan_->disallow_system && name.starts_with(':')) return false;
  if (!plan_->allow_envoy) {
    // Also what is no more than that.
    std::string own = http::ownHeader({});
    own.pop_back();
    if (name.starts_with(own)) return false;
  }
  return plan_->allow_all_routing || !isRouting(name);
}

HeaderRules::Verdict HeaderRules::onSet(std::string_view name, std::string_view value) const {
  if (!plan_) return Verdict::Fine;
  if (!allows(name)) return refused();
  const bool is_authority = name == "host" || name == ":authority";
  if (is_authority && !isAuthority(value)) return refused();
  if (name == ":scheme" && value != "http" && value != "https") return refused();
  return Verdict::Fine;
}

HeaderRules::Verdict HeaderRules::onRemove(std::string_view name) const {
  if (!plan_) return isRemovable(name) ? Verdict::Fine : Verdict::Ignored;
  return isRemovable(name) && allows(name) ? Verdict::Fine : refused();
}

void editRequest(const HeaderEdit& change, http::RequestHead& head, Arena& arena) {
  using Action = HeaderEdit::Action;
  if (std::string_view* const pseudo = pseudoOf(head, change.name)) {
    if (change.action != Action::Remove && change.action != Action::AddIfAbsent &&
        change.action != Action::Append && change.action != Action::Add) {
      *pseudo = change.value;
    }
    return;
  }
  if (change.name.starts_with(':')) return;
  edit(change, head.headers, http::isJoinedInRequests(http::internHeader(change.name)), arena);
}

void editResponse(const HeaderEdit& change, http::HeaderMap& headers, Arena& arena) {
  if (change.name.starts_with(':')) return;
  edit(change, headers, http::isJoinedInResponses(http::internHeader(change.name)), arena);
}

}  // namespace fairlead::filters
