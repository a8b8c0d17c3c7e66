#include "filters/http/ext_proc_figures.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/json.h"
#include "format/append_number.h"

namespace fairlead::filters {

namespace {

constexpr std::string_view kDestination = "destination";
constexpr std::string_view kFailedOpen = "failed_open";
constexpr std::string_view kAnsweredAtOnce = "received_immediate_response";

}  // namespace

void ProcFigures::note(bool is_request, Part part, uint64_t us, int64_t status) {
  Message& message = is_request ? request_ : response_;
  if (part == Part::Body) {
    if (!message.body) message.body = Pieces{0, 0, 0, 0};
    Pieces& body = *message.body;
    ++body.count;
    body.total_us += us;
    body.max_us = std::max(body.max_us, us);
    body.last_status = status;
    return;
  }
  std::optional<Once>& once = part == Part::Head ? message.head : message.trailers;
  if (!once) once = Once{us, status};
}

void ProcFigures::noteEffect(bool is_request, Part part, EditEffect effect) {
  Message& message = is_request ? request_ : response_;
  message.effects[static_cast<size_t>(part)] = effect;
}

// By its name, each number and flag that there is.
template <typename Visit>
void ProcFigures::forEach(Visit visit) const {
  const auto once = [&visit](std::string_view latency, std::string_view status,
                             const std::optional<Once>& of) {
    if (!of) return;
    visit(latency, of->us);
    visit(status, static_cast<uint64_t>(of->status));
  };
  const auto pieces = [&visit](std::string_view count, std::string_view total,
                               std::string_view longest, std::string_view status,
                               const std::optional<Pieces>& of) {
    if (!of) return;
    visit(count, of->count);
    visit(total, of->total_us);
    visit(longest, of->max_us);
    visit(status, static_cast<uint64_t>(of->last_status));
  };
  once("request_header_latency_us", "request_header_call_status", request_.head);
  pieces("request_body_call_count", "request_body_total_latency_us", "request_body_max_latency_us",
         "request_body_last_call_status", request_.body);
  once("request_trailer_latency_us", "request_trailer_call_status", request_.trailers);
  once("response_header_latency_us", "response_header_call_status", response_.head);
  pieces("response_body_call_count", "response_body_total_latency_us",
         "response_body_max_latency_us", "response_body_last_call_status", response_.body);
  once("response_trailer_latency_us", "response_trailer_call_status", response_.trailers);
  visit("bytes_sent", bytes_.wire_sent);
  visit("bytes_received", bytes_.wire_received);
  const auto effect = [&visit](std::string_view name, const Message& of, Part part) {
    visit(name, static_cast<uint64_t>(of.effects[static_cast<size_t>(part)]));
  };
  effect("request_header_processing_effect", request_, Part::Head);
  effect("request_body_processing_effect", request_, Part::Body);
  effect("request_trailer_processing_effect", request_, Part::Trailers);
  effect("response_header_processing_effect", response_, Part::Head);
  effect("response_body_processing_effect", response_, Part::Body);
  effect("response_trailer_processing_effect", response_, Part::Trailers);
  // As far as is known it never is another one.
  visit("grpc_status_before_first_call", uint64_t{0});
  visit(kFailedOpen, uint64_t{has_failed_open_});
  visit(kAnsweredAtOnce, uint64_t{was_answered_at_once_});
}

bool ProcFigures::appendText(std::string* out) const {
  const auto numbers = [out](std::string_view name, std::initializer_list<uint64_t> values) {
    out->append(name);
    for (const uint64_t value : values) {
      out->push_back(':');
      format::appendNumber(value, out);
    }
  };
  const auto once = [&](std::string_view name, const std::optional<Once>& of) {
    if (!of) return;
    numbers(name, {of->us, static_cast<uint64_t>(of->status)});
    out->push_back(',');
  };
  const auto pieces = [&](std::string_view name, const std::optional<Pieces>& of) {
    if (!of) return;
    numbers(name, {of->count, of->total_us, static_cast<uint64_t>(of->last_status)});
    out->push_back(',');
  };
  once("rh", request_.head);
  pieces("rb", request_.body);
  once("rt", request_.trailers);
  once("sh", response_.head);
  pieces("sb", response_.body);
  once("st", response_.trailers);
  numbers("bs", {bytes_.wire_sent});
  out->push_back(',');
  numbers("br", {bytes_.wire_received});
  out->append(",os:0,ds:").append(destination_);
  return true;
}

bool ProcFigures::appendJson(std::string* out) const {
  std::vector<std::pair<std::string_view, uint64_t>> all;
  forEach([&all](std::string_view name, uint64_t value) { all.emplace_back(name, value); });
  all.emplace_back(kDestination, 0);
  std::ranges::sort(all);
  out->push_back('{');
  for (const auto& [name, value] : all) {
    if (&name != &all.front().first) out->push_back(',');
    out->append("\"").append(name).append("\":");
    if (name == kDestination) {
      appendJsonString(out, destination_);
    } else if (name == kFailedOpen || name == kAnsweredAtOnce) {
      out->append(value > 0 ? "true" : "false");
    } else {
      format::appendNumber(value, out);
    }
  }
  out->push_back('}');
  return true;
}

bool ProcFigures::appendField(std::string_view field, std::string* out) const {
  if (field == kDestination) {
    out->append(destination_);
    return true;
  }
  bool is_there = false;
  forEach([&](std::string_view name, uint64_t value) {
    if (name != field) return;
    is_there = true;
    format::appendNumber(value, out);
  });
  return is_there;
}

std::shared_ptr<ProcFigures> figuresOf(const std::string& name, const FilterNotes& notes) {
  if (!net::isFilterStateWanted()) return nullptr;
  net::FilterState& state = net::ensureFilterState(notes.filter_state);
  auto made = std::make_shared<ProcFigures>();
  const std::shared_ptr<net::StateObject> before = state.shareObject(name);
  if (before && before->kind() == made->kind()) {
    return std::static_pointer_cast<ProcFigures>(before);
  }
  return state.put(name, made) ? made : nullptr;
}

}  // namespace fairlead::filters
