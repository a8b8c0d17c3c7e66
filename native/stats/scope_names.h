// How names that a configuration gave become parts of statistics' names, and labels. Pure.
#pragma once

#include <string>
#include <string_view>

#include "stats/block.h"

namespace fairlead::stats {

// ':' becomes '_', as the real server has it.
std::string sanitized(std::string_view name);

// A name as a label: up to the first dot. `rest` is what follows it, with a dot at its end.
struct Token {
  std::string name;
  std::string label;
  std::string rest;
};

Token splitAt(std::string name, size_t dot);
// Sanitized, and without the dots at its end.
std::string trimmed(std::string name);
Token tokenOf(std::string_view raw);
// Of a name that is a label; one of dots alone is none.
Scope namedScope(const std::string& stem, const char* label, const Token& token);

}  // namespace fairlead::stats
