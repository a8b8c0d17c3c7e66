// The cookies of a request as a filter changes them: each name once, in the order in which they
// came. Pure.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/cookies.h"

namespace fairlead::filters {

class CookieJar {
 public:
  using Cookie = std::pair<std::string, std::string>;

  CookieJar() = default;
  explicit CookieJar(const http::HeaderMap& headers) {
    http::forEachCookie(headers, [this](std::string_view name, std::string_view value) {
      while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
      if (!find(name)) cookies_.emplace_back(name, value);
      return true;
    });
  }

  bool empty() const { return cookies_.empty(); }
  const std::vector<Cookie>& all() const { return cookies_; }
  // Null: there is none.
  const std::string* find(std::string_view name) const {
    const auto found = std::ranges::find(cookies_, name, &Cookie::first);
    return found == cookies_.end() ? nullptr : &found->second;
  }
  // Empty: there is none, or it is.
  std::string_view valueOf(std::string_view name) const {
    const std::string* const value = find(name);
    return value ? std::string_view(*value) : std::string_view();
  }
  // In its place, or behind all others.
  void set(std::string_view name, std::string_view value) {
    const auto found = std::ranges::find(cookies_, name, &Cookie::first);
    if (found == cookies_.end()) {
      cookies_.emplace_back(name, value);
    } else {
      found->second = value;
    }
  }
  void erase(std::string_view name) {
    std::erase_if(cookies_, [name](const Cookie& one) { return one.first == name; });
  }
  // That one, and those whose names begin with it and a point.
  void eraseFlow(std::string_view name) {
    std::erase_if(cookies_, [name](const Cookie& one) { return isOfFlow(one.first, name); });
  }
  static bool isOfFlow(std::string_view name, std::string_view base) {
    return name.starts_with(base) && (name.size() == base.size() || name[base.size()] == '.');
  }
  void clear() { cookies_.clear(); }
  std::string text() const {
    std::string text;
    for (const auto& [name, value] : cookies_) {
      if (!text.empty()) text.append("; ");
      text.append(name).append("=").append(value);
    }
    return text;
  }

 private:
  std::vector<Cookie> cookies_;
};

}  // namespace fairlead::filters
