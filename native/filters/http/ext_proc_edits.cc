#include "filters/http/ext_proc_edits.h"

#include <charconv>

#include "base/proto_reader.h"
#include "base/text.h"

namespace fairlead::filters {

namespace {

constexpr std::string_view kBadRemoval = "header_mutation_remove_contains_invalid_character";
constexpr std::string_view kBadValue = "header_mutation_set_contains_invalid_character";
constexpr std::string_view kRemovalRefused = "header_mutation_remove_headers_failed";
constexpr std::string_view kValueRefused = "header_mutation_set_headers_failed";
constexpr std::string_view kTooMany = "header_mutation_operation_count_exceeds_limit";
constexpr std::string_view kTooLarge = "header_mutation_result_exceeds_limit";

// envoy.config.core.v3.HeaderValueOption: what the real server reads of it.
struct SetHeader {
  bool is_there = false;
  bool appends = false;
  std::string_view name;
  std::string_view value;
};

SetHeader readSetHeader(std::string_view message) {
  SetHeader set;
  ProtoReader reader(message);
  while (reader.next()) {
    if (reader.field() == 1) {
      set.is_there = true;
      ProtoReader header(reader.bytes());
      while (header.next()) {
        if (header.field() == 1) set.name = header.bytes();
        if (header.field() == 3) set.value = header.bytes();
      }
    } else if (reader.field() == 2) {
      set.appends = false;
      ProtoReader append(reader.bytes());
      while (append.next()) {
        if (append.field() == 1) set.appends = append.flag();
      }
    }
  }
  return set;
}

std::string_view lowered(std::string_view name, Arena& arena) {
  char* const copy = arena.allocate(name.size());
  for (size_t i = 0; i < name.size(); ++i) copy[i] = lowerAscii(name[i]);
  return {copy, name.size()};
}

bool isThere(const EditedHead& head, std::string_view name) {
  if (head.request) {
    if (name == "host" || name == ":authority") return !head.request->authority.empty();
    if (name == ":path") return !head.request->path.empty();
    if (name == ":method") return true;
  }
  const http::HeaderId id = http::internHeader(name);
  return id == http::HeaderId::Other ? head.headers.find(name) != nullptr
                                     : head.headers.find(id) != nullptr;
}

void change(const EditedHead& head, const HeaderEdit& edit, Arena& arena) {
  if (head.request) {
    const bool is_host = edit.name == "host" || edit.name == ":authority";
    if (is_host && edit.action == HeaderEdit::Action::Add) {
      http::RequestHead& request = *head.request;
      request.authority =
          request.authority.empty() ? edit.value : arena.join(request.authority, ",", edit.value);
      return;
    }
    editRequest(edit, *head.request, arena);
    return;
  }
  if (head.status && edit.name == ":status") {
    uint16_t status = 0;
    const char* const end = edit.value.data() + edit.value.size();
    const auto [at, error] = std::from_chars(edit.value.data(), end, status);
    if (error == std::errc() && at == end && status >= 200 && status <= 999) *head.status = status;
    return;
  }
  editResponse(edit, head.headers, arena);
}

// With its pseudo headers.
bool isTooLarge(const EditedHead& head, const HeadLimits& limits) {
  uint64_t count = 0;
  uint64_t bytes = 0;
  const auto add = [&](size_t name, size_t value) {
    ++count;
    bytes += name + value;
  };
  for (const http::HeaderEntry& entry : head.headers) {
    if (entry.name_size > 0) add(entry.name_size, entry.value_size);
  }
  if (head.request) {
    add(10, head.request->authority.size());
    add(5, head.request->path.size());
    add(7, head.request->method.size());
    add(7, 5);
  }
  if (head.status) add(7, 3);
  return count > limits.count || bytes > uint64_t{limits.kb} * 1024;
}

}  // namespace

std::string_view ProcessorEdits::apply(const EditedHead& head, Arena& arena,
                                       EditTally* tally) const {
  using Verdict = HeaderRules::Verdict;
  const auto refuse = [tally](std::string_view why, EditEffect effect) {
    ++tally->rejected;
    tally->effect = effect;
    return why;
  };
  uint32_t sets = 0;
  uint32_t removals = 0;
  for (ProtoReader reader(mutation); reader.next();) {
    if (reader.field() == 1) ++sets;
    if (reader.field() == 2) ++removals;
  }
  if (sets > limits.count || removals > limits.count) return refuse(kTooMany, EditEffect::TooLarge);
  for (ProtoReader reader(mutation); reader.next();) {
    if (reader.field() != 2) continue;
    if (!isHeaderName(reader.bytes())) return refuse(kBadRemoval, EditEffect::Invalid);
    const std::string_view name = lowered(reader.bytes(), arena);
    const Verdict verdict = rules.onRemove(name);
    if (verdict == Verdict::Wrong) return refuse(kRemovalRefused, EditEffect::Failed);
    if (verdict == Verdict::Ignored) {
      ++tally->rejected;
    } else {
      change(head, {HeaderEdit::Action::Remove, name, {}}, arena);
      tally->effect = EditEffect::Applied;
    }
  }
  for (ProtoReader reader(mutation); reader.next();) {
    if (reader.field() != 1) continue;
    const SetHeader set = readSetHeader(reader.bytes());
    if (!set.is_there) continue;
    if (!isHeaderName(set.name) || !isHeaderValue(set.value))
      return refuse(kBadValue, EditEffect::Invalid);
    const std::string_view name = lowered(set.name, arena);
    if (keeps_length_out && name == "content-length") continue;
    const bool appends = set.appends && isThere(head, name);
    Verdict verdict =
        appends && name.starts_with(':') ? rules.onRemove(name) : rules.onSet(name, set.value);
    if (replaces && name == ":method") verdict = Verdict::Fine;
    if (verdict == Verdict::Wrong) return refuse(kValueRefused, EditEffect::Failed);
    if (verdict == Verdict::Ignored) {
      ++tally->rejected;
    } else {
      change(head, {appends ? HeaderEdit::Action::Add : HeaderEdit::Action::Set, name, set.value},
             arena);
      tally->effect = EditEffect::Applied;
    }
  }
  return isTooLarge(head, limits) ? refuse(kTooLarge, EditEffect::TooLarge) : std::string_view();
}

}  // namespace fairlead::filters
