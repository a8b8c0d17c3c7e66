// What an access log that goes to a service makes of a request or a connection. Immutable; any
// thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "format/format.h"
#include "plan/plan.gen.h"

namespace fairlead::access_log {

class EntryEncoder {
 public:
  virtual ~EntryEncoder() = default;
  virtual void append(const format::FormatContext& context, std::string* out) const = 0;
  virtual bool readsRequestHead() const { return true; }
  virtual bool readsResponseHead() const { return true; }
};

// Tags of an entry: names, and formats of their values.
class LogTags {
 public:
  explicit LogTags(const std::vector<plan::LogTag>& plan) {
    for (const plan::LogTag& tag : plan) {
      tags_.push_back({tag.name, format::Format(tag.value.value_or(plan::Format())), tag.fallback});
    }
  }
  // `put` gets the name and the value of each that has one.
  template <typename Put>
  void forEach(const format::FormatContext& context, Put put) const {
    std::string value;
    for (const Tag& tag : tags_) {
      value.clear();
      tag.value.appendLine(context, &value);
      if (value.empty()) value = tag.fallback;
      if (!value.empty()) put(tag.name, value);
    }
  }

 private:
  struct Tag {
    std::string name;
    format::Format value;
    std::string fallback;
  };
  std::vector<Tag> tags_;
};

// Of envoy.data.accesslog.v3, as fields number 1 of a message.
std::unique_ptr<const EntryEncoder> makeGrpcEncoder(const plan::GrpcAccessLog& plan);
// Of opentelemetry.proto.logs.v1.LogRecord, as fields number 2.
std::unique_ptr<const EntryEncoder> makeOtelEncoder(const plan::OtelAccessLog& plan);

}  // namespace fairlead::access_log
