// A finished span as the control thread reads it (src/tracing/span-record.ts): numbers in the
// order of little-endian machines, texts behind their length. One buffer that is used again and
// again; the worker's thread.
//
//   u32 bytes of what follows   u32 tracer   u32 worker   u32 flags (Flag)
//   u64 trace id, high and low   u64 span   u64 parent
//   u64 begin, µs since 1970   u64 duration, µs
//   text name   text state   text peer   text trace   text segment   text origin
//   u32 count, then for each tag: u8 type (plan::TraceTag::Type), text name, text value
//   u32 count, then for each event: u8 Event, u64 µs since 1970
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "plan/plan.gen.h"

namespace fairlead::tracing {

// When bytes came and went.
enum class Event : uint8_t {
  LastDownstreamRx,
  FirstUpstreamTx,
  LastUpstreamTx,
  FirstUpstreamRx,
  LastUpstreamRx,
  FirstDownstreamTx,
  LastDownstreamTx,
  kCount,
};

class Record {
 public:
  enum Flag : uint32_t {
    kServer = 1,
    kHasParent = 2,
    // The parent is another process's.
    kRemoteParent = 4,
    // A try at a host.
    kChild = 8,
    kEgress = 16,
    // Was decided by another process, which told so: Datadog's.
    kForced = 32,
    kDropped = 64,
  };

  void begin() {
    bytes_.clear();
    number32(0);
  }
  void number32(uint32_t value) { append(&value, sizeof(value)); }
  void number64(uint64_t value) { append(&value, sizeof(value)); }
  void text(std::string_view value) {
    number32(static_cast<uint32_t>(value.size()));
    bytes_.append(value);
  }
  void beginTags() { beginList(); }
  void tag(std::string_view name, std::string_view value,
           plan::TraceTag::Type type = plan::TraceTag::Type::Text) {
    bytes_.push_back(static_cast<char>(type));
    text(name);
    text(value);
    ++count_;
  }
  void endTags() { endList(); }
  void beginEvents() { beginList(); }
  void event(Event event, uint64_t at_us) {
    bytes_.push_back(static_cast<char>(event));
    number64(at_us);
    ++count_;
  }
  void endEvents() { endList(); }
  std::string_view finish() {
    const auto size = static_cast<uint32_t>(bytes_.size() - sizeof(uint32_t));
    std::memcpy(bytes_.data(), &size, sizeof(size));
    return bytes_;
  }

 private:
  void append(const void* value, size_t size) {
    bytes_.append(static_cast<const char*>(value), size);
  }
  void beginList() {
    count_at_ = bytes_.size();
    count_ = 0;
    number32(0);
  }
  void endList() { std::memcpy(bytes_.data() + count_at_, &count_, sizeof(count_)); }

  std::string bytes_;
  size_t count_at_ = 0;
  uint32_t count_ = 0;
};

}  // namespace fairlead::tracing
