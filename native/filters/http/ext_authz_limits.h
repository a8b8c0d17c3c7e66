// Whether what an authorization service changes of a request's head leaves it within its limits. Of
// one request; the worker's thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "filters/http/ext_authz_answer.h"
#include "filters/http/filter_place.h"
#include "filters/http/header_rules.h"

namespace fairlead::filters {

// How large a request's head is to become; nothing of it is changed.
class HeadAfterEdits final : public HeadEditor {
 public:
  template <typename IsAllowed>
  HeadAfterEdits(const std::vector<AuthzAnswer::Edit>& edits, IsAllowed is_allowed) {
    for (const AuthzAnswer::Edit& edit : edits) {
      if (is_allowed(edit)) edits_.push_back(&edit);
    }
  }

  void edit(http::RequestHead* request, uint16_t*, http::HeaderMap& headers, Arena&) override {
    using Action = HeaderEdit::Action;
    if (request) {
      add(":authority", request->authority);
      add(":path", request->path);
      add(":method", request->method);
      add(":scheme", "http");
    }
    for (const http::HeaderEntry& entry : headers) {
      if (entry.name_size > 0) add(entry.name(), entry.value());
    }
    for (const AuthzAnswer::Edit* const edit : edits_) {
      const bool is_there = has(edit->name);
      switch (edit->action) {
        case Action::Append:
          if (is_there) bytes_ += 1 + edit->value.size();
          continue;
        case Action::AddIfAbsent:
          if (is_there) continue;
          break;
        case Action::OverwriteIfExists:
          if (!is_there) continue;
          remove(edit->name);
          break;
        case Action::Set:
        case Action::Remove:
          remove(edit->name);
          break;
        case Action::Add:
          break;
      }
      if (edit->action != Action::Remove) add(edit->name, edit->value);
    }
  }
  bool fits(const HeadLimits& limits) const {
    return lines_.size() <= limits.count && bytes_ <= uint64_t{limits.kb} * 1024;
  }

 private:
  struct Line {
    std::string_view name;
    size_t bytes;
  };

  void add(std::string_view name, std::string_view value) {
    lines_.push_back(
        {name == "host" ? std::string_view(":authority") : name, name.size() + value.size()});
    bytes_ += name.size() + value.size();
  }
  bool has(std::string_view name) const {
    return std::ranges::any_of(lines_, [&](const Line& line) { return line.name == name; });
  }
  void remove(std::string_view name) {
    if (name == "host") name = ":authority";
    std::erase_if(lines_, [&](const Line& line) {
      if (line.name != name) return false;
      bytes_ -= line.bytes;
      return true;
    });
  }

  std::vector<const AuthzAnswer::Edit*> edits_;
  std::vector<Line> lines_;
  uint64_t bytes_ = 0;
};

}  // namespace fairlead::filters
