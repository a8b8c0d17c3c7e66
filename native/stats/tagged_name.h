// What a statistic is called where labels are kept apart: its name without them, and they. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stats/registry.h"

namespace fairlead::stats {

// The digit of "downstream_rq_2xx"; 0 for other names.
char codeClassOf(std::string_view name);

// Of "ciphers.AES128-SHA" and its like, which TLS counts by what was agreed on: "envoy.ssl_cipher",
// "ciphers" and "AES128-SHA". Of "event_type.hit", of caches, likewise, behind the scope's labels.
// No label: the name is none of them.
struct AgreedName {
  std::string_view label = {};
  std::string_view metric = {};
  std::string_view value = {};
  bool is_last = false;
};
AgreedName agreedNameOf(std::string_view name);
// Within a scope: towards hosts the label of ciphers is another one.
AgreedName agreedNameOf(const Scope& scope, std::string_view name);

// The end of a path, which is a label of the scope.
constexpr bool isEndOfLabel(std::string_view name) { return name == "/"; }

// The real server makes some statistics before it reads what tags the configuration has: they only
// have those of the scope.
bool hasConfiguredTags(const Scope& scope, std::string_view name);

// Whether rules for tags are no matter of the block's names.
bool hasOwnTags(const BlockBase& block);

// Appends labels and name of `name` in the block's scope; `code` is that of counts by status,
// otherwise empty.
void appendTagged(const Registry& registry, const BlockBase& block, std::string_view name,
                  CodeName code, std::vector<Label>* labels, std::string* tagged);

}  // namespace fairlead::stats
