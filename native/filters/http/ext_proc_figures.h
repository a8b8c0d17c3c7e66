// What logs may ask of the conversation with an external processor, in the filter state: how long
// it took for the parts of either message. Kept only where a format asks for anything there. The
// worker's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "filters/http/ext_proc_edits.h"
#include "filters/http/http_filter.h"
#include "http/byte_meter.h"
#include "net/filter_state.h"

namespace fairlead::filters {

class ProcFigures final : public net::StateObject {
 public:
  enum class Part : uint8_t { Head, Body, Trailers };

  const void* kind() const override { return &kKind; }
  bool appendText(std::string* out) const override;
  bool appendJson(std::string* out) const override;
  bool appendField(std::string_view field, std::string* out) const override;

  void noteDestination(std::string_view cluster) { destination_ = cluster; }
  void noteEffect(bool is_request, Part part, EditEffect effect);
  void noteAnswerAtOnce() { was_answered_at_once_ = true; }
  void noteGoingOnUntold() { has_failed_open_ = true; }
  // `status`: of gRPC.
  void note(bool is_request, Part part, uint64_t us, int64_t status);
  void noteBytes(const http::ByteMeter& bytes) { bytes_ = bytes; }

 private:
  // Of a head or trailers, the first time.
  struct Once {
    uint64_t us;
    int64_t status;
  };
  struct Pieces {
    uint64_t count;
    uint64_t total_us;
    uint64_t max_us;
    int64_t last_status;
  };
  struct Message {
    std::optional<Once> head;
    std::optional<Pieces> body;
    std::optional<Once> trailers;
    // By its parts.
    EditEffect effects[3] = {};
  };
  template <typename Visit>
  void forEach(Visit visit) const;

  static constexpr char kKind = 0;

  Message request_;
  Message response_;
  http::ByteMeter bytes_;
  std::string destination_;
  bool was_answered_at_once_ = false;
  bool has_failed_open_ = false;
};

// What logs may ask of a filter of that name; null: nobody asks, or something else has its name.
std::shared_ptr<ProcFigures> figuresOf(const std::string& name, const FilterNotes& notes);

}  // namespace fairlead::filters
