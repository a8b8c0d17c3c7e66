#include "filters/http/ext_authz_changes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "filters/http/query_edits.h"

namespace fairlead::filters {

namespace {

using Verdict = HeaderRules::Verdict;

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

// What breaks a message is never sent, whoever asks for it.
bool isSendable(const AuthzAnswer::Edit& edit) {
  return isHeaderName(edit.name) && isHeaderValue(edit.value);
}

bool isQueryValid(const AuthzAnswer& answer) {
  return std::ranges::all_of(answer.query_set, [](const auto& pair) {
    return isQueryText(pair.first) && isQueryText(pair.second);
  });
}

}  // namespace

bool AuthzChanges::areWrong() const {
  const auto is_wrong = [this](const Edit& edit) { return isAllowed(edit) == Verdict::Wrong; };
  if (std::ranges::any_of(answer_.edits, is_wrong)) return true;
  return settings_.plan.validate_mutations &&
         (!std::ranges::all_of(answer_.response_edits, isSendable) || !isQueryValid(answer_));
}

bool AuthzChanges::fitRequest(FilterPlace& place) const {
  const auto adds = [](const Edit& edit) { return edit.action != HeaderEdit::Action::Remove; };
  if (std::ranges::none_of(answer_.edits, adds)) return true;
  HeadAfterEdits after(answer_.edits,
                       [this](const Edit& edit) { return isAllowed(edit) == Verdict::Fine; });
  place.editRequestHead(after);
  return after.fits(place.requestLimits());
}

const AuthzAnswer::Edit* AuthzChanges::findOddName() const {
  for (const Edit& edit : answer_.edits) {
    if (edit.action != HeaderEdit::Action::Remove && !isHeaderName(edit.name)) return &edit;
  }
  return nullptr;
}

void AuthzChanges::makeIn(http::RequestHead& head, Arena& arena) const {
  for (const Edit& edit : answer_.edits) {
    if (isAllowed(edit) == Verdict::Fine) editRequest(edit.lent(), head, arena);
  }
  if (answer_.query_set.empty() && answer_.query_remove.empty()) return;
  head.path = editQuery(head.path, answer_.query_set, answer_.query_remove, arena);
}

void AuthzChanges::makeInAnswer(http::HeaderMap& headers, Arena& arena) const {
  for (const Edit& edit : answer_.response_edits) {
    if (isSendable(edit)) editResponse(edit.lent(), headers, arena);
  }
}

bool AuthzChanges::isRefusalWrong() const {
  return settings_.plan.validate_mutations && !std::ranges::all_of(answer_.edits, isSendable);
}

void AuthzChanges::tellRefusal(http::HeaderMap& headers) const {
  // What makes it one for gRPC stays.
  const bool is_grpc = headers.find(http::HeaderId::GrpcStatus) != nullptr;
  const bool has_message = headers.find(http::HeaderId::GrpcMessage) != nullptr;
  const auto is_told = [&](const Edit& edit) {
    if (is_grpc && edit.name == "content-type") return false;
    if (is_grpc && has_message && edit.name == "grpc-message") return false;
    if (answer_.body.empty() && edit.name == "content-type") return false;
    return isSendable(edit) && !edit.name.starts_with(':') && edit.name != "content-length" &&
           edit.name != "transfer-encoding" && edit.name != "connection";
  };
  for (const Edit& edit : answer_.edits) {
    if (is_told(edit)) headers.remove(std::string_view(edit.name));
  }
  for (const Edit& edit : answer_.edits) {
    if (is_told(edit)) headers.add(http::internHeader(edit.name), edit.name, edit.value);
  }
}

Verdict AuthzChanges::isAllowed(const Edit& edit) const {
  const bool validates = settings_.plan.validate_mutations;
  if (edit.action == HeaderEdit::Action::Remove) {
    if (validates && !isHeaderName(edit.name)) return Verdict::Ignored;
    return settings_.rules.onRemove(edit.name);
  }
  if (!isSendable(edit)) return validates ? Verdict::Wrong : Verdict::Ignored;
  return settings_.rules.onSet(edit.name, edit.value);
}

}  // namespace fairlead::filters
