#include "filters/http/connect_frames.h"

#include "base/arena.h"
#include "base/json_tree.h"

namespace fairlead::filters {

namespace {

constexpr uint8_t kLastFrame = 2;
// Of a last frame; metadata may stand in it. What is longer is not looked at, and counts as a
// failure.
constexpr size_t kMaxLastBytes = 65536;
constexpr size_t kArenaBytes = 4096;

bool tellsOfSuccess(std::string_view text) {
  Arena arena(kArenaBytes);
  const JsonNode* const root = parseJson(text, arena, JsonRepeats::LastWins);
  return root && root->isObject() && !root->find("error");
}

}  // namespace

void ConnectFrames::add(std::string_view data) {
  frames_.add(data, [this](std::string_view piece, bool ends) {
    // Nothing comes behind the last one.
    if (state_ == State::Succeeded || state_ == State::Failed) return;
    if (!is_in_frame_) {
      is_in_frame_ = true;
      if ((static_cast<uint8_t>(piece[0]) & kLastFrame) != 0) {
        state_ = State::LastFrame;
      } else {
        ++count_;
      }
    }
    if (state_ == State::LastFrame && last_.size() <= kMaxLastBytes) last_.append(piece);
    if (ends) endFrame();
  });
}

void ConnectFrames::endFrame() {
  is_in_frame_ = false;
  if (state_ != State::LastFrame) return;
  const bool fits = last_.size() <= kMaxLastBytes;
  const std::string_view text = std::string_view(last_).substr(http::kGrpcFrameHeaderBytes);
  state_ = fits && tellsOfSuccess(text) ? State::Succeeded : State::Failed;
  last_ = {};
}

}  // namespace fairlead::filters
