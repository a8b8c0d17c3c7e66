// What a service may change of a request's headers (HeaderMutationRules), and how it does.
// Immutable; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "base/arena.h"
#include "base/regex.h"
#include "base/result.h"
#include "http/header_syntax.h"
#include "http/message.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

class HeaderRules {
 public:
  enum class Verdict : uint8_t {
    Fine,
    // It is left as it was.
    Ignored,
    // What asks for it is wrong.
    Wrong,
  };

  // Without rules: everything may be.
  HeaderRules() = default;
  static Result<HeaderRules> build(const plan::MutationRules& plan);

  bool isEmpty() const { return !plan_; }
  // `name` in lower case.
  Verdict onSet(std::string_view name, std::string_view value) const;
  Verdict onRemove(std::string_view name) const;

 private:
  bool allows(std::string_view name) const;
  Verdict refused() const { return plan_->disallow_is_error ? Verdict::Wrong : Verdict::Ignored; }

  std::optional<plan::MutationRules> plan_;
  std::optional<Regex> allow_;
  std::optional<Regex> disallow_;
};

using http::isHeaderName;
using http::isHeaderValue;
// Whether a request is one without it.
inline bool isRemovable(std::string_view name) { return !name.starts_with(':') && name != "host"; }

// How one header is changed.
struct HeaderEdit {
  enum class Action : uint8_t {
    // Where some headers are joined, the value joins them.
    Add,
    Set,
    AddIfAbsent,
    OverwriteIfExists,
    // A value behind a comma, where there is one before.
    Append,
    Remove,
  };
  Action action;
  // In lower case; may be one of ":method", ":path", ":authority", ":scheme". Lent.
  std::string_view name;
  std::string_view value;
};

void editRequest(const HeaderEdit& edit, http::RequestHead& head, Arena& arena);
void editResponse(const HeaderEdit& edit, http::HeaderMap& headers, Arena& arena);

}  // namespace fairlead::filters
