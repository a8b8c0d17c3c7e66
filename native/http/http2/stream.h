// What a stream of either side has: its windows, and what waits to be sent. Driven by its session,
// which owns it through a pool; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/list.h"
#include "base/slab.h"
#include "http/byte_meter.h"
#include "http/codec.h"
#include "net/timer_wheel.h"

namespace fairlead::http2 {

class Session;

// Trailers that wait behind the last of their body.
class SavedFields {
 public:
  void save(const http::HeaderMap& headers);
  // Views live as long as this does.
  void restore(http::HeaderMap* headers) const;

 private:
  struct Size {
    http::HeaderId id;
    uint16_t name;
    uint32_t value;
  };
  std::string bytes_;
};

// Linked: it is on its session's list of those that have bytes to send and a window for them.
class StreamBase : public ListNode<StreamBase> {
 public:
  virtual ~StreamBase() = default;

  uint32_t id() const { return id_; }
  bool isOpen() const { return session_ != nullptr; }
  // What those bytes take that wait to be sent.
  size_t pendingMemory() const { return pending_.memory(); }

 protected:
  // ---- what its side makes of frames ----
  virtual void onData(std::string_view data, bool end) = 0;
  // It ended without its proper end. Told once, and last.
  virtual void onReset(http::ResetReason reason, std::string_view details) = 0;
  // What waits fell below the low watermark.
  virtual void onWritable() = 0;
  // All that one read brought has been told.
  virtual void onReadEnd() = 0;
  // Where bytes are counted; null: nobody wants to know any more.
  virtual http::ByteMeter* meter() = 0;

  // As new.
  void clearBase();

  Session* session_ = nullptr;

 private:
  friend class Session;
  friend class StreamTable;

  // Of the table.
  StreamBase* next_in_place_ = nullptr;
  uint32_t id_ = 0;
  // What may be sent; below 0 after the peer's settings took back more than there was.
  int32_t send_window_ = 0;
  // What the peer may still send.
  int32_t receive_window_ = 0;
  // Of what came: used up and not given back yet; waiting for reading to be resumed.
  uint32_t consumed_ = 0;
  uint32_t held_ = 0;
  // What its head said of the body; kNoLength: nothing.
  static constexpr uint64_t kNoLength = UINT64_MAX;
  uint64_t length_left_ = kNoLength;
  // Of it so far.
  uint64_t body_bytes_ = 0;
  SlabChain pending_;
  std::unique_ptr<SavedFields> trailers_;
  // When what is composed whole must have moved on; kNever: it is not.
  net::Millis flush_deadline_ = net::kNever;
  // kOfSession until it is told, or composed whole.
  static constexpr uint32_t kOfSession = UINT32_MAX;
  uint32_t flush_timeout_ms_ = kOfSession;
  uint16_t read_pauses_ = 0;
  // Of RST_STREAM that follows once all is sent; negative: none.
  int8_t reset_after_ = -1;
  bool end_pending_ : 1 = false;    // END_STREAM comes with the last of pending_.
  bool local_ended_ : 1 = false;    // END_STREAM was sent.
  bool remote_ended_ : 1 = false;   // END_STREAM has come.
  bool behind_ : 1 = false;         // Who feeds it is to hear when there is room again.
  bool head_received_ : 1 = false;  // Its first head; what comes next is trailers.
};

}  // namespace fairlead::http2
