// Records of opentelemetry.proto.logs.v1.
#include <algorithm>
#include <optional>

#include "access_log/entry_encoder.h"
#include "base/proto_writer.h"

namespace fairlead::access_log {

namespace {

// The fields of AnyValue.
constexpr uint32_t kAnyText = 1;
constexpr uint32_t kAnyList = 5;
constexpr uint32_t kAnyMap = 6;
// Of LogRecord.
constexpr uint32_t kTime = 1;
constexpr uint32_t kBody = 5;
constexpr uint32_t kAttributes = 6;

// One AnyValue, maybe that of a KeyValue.
class OtelValue {
 public:
  explicit OtelValue(const plan::OtelValue& plan) : key_(plan.key), is_map_(plan.is_map) {
    if (plan.text) text_.emplace(*plan.text);
    for (const plan::OtelValue& item : plan.items) items_.emplace_back(item);
  }

  bool readsRequestHead() const {
    if (text_) return text_->readsRequestHead();
    return std::any_of(items_.begin(), items_.end(),
                       [](const OtelValue& item) { return item.readsRequestHead(); });
  }
  bool readsResponseHead() const {
    if (text_) return text_->readsResponseHead();
    return std::any_of(items_.begin(), items_.end(),
                       [](const OtelValue& item) { return item.readsResponseHead(); });
  }

  // The fields of its AnyValue.
  void write(const format::FormatContext& context, ProtoWriter* out) const {
    if (text_) {
      std::string text;
      text_->appendLine(context, &text);
      out->bytes(kAnyText, text);
      return;
    }
    ProtoWriter list;
    for (const OtelValue& item : items_) {
      if (is_map_) {
        item.writeMember(context, 1, &list);
      } else {
        ProtoWriter value;
        item.write(context, &value);
        list.bytes(1, value.view());
      }
    }
    out->bytes(is_map_ ? kAnyMap : kAnyList, list.view());
  }
  // A KeyValue.
  void writeMember(const format::FormatContext& context, uint32_t field, ProtoWriter* out) const {
    ProtoWriter value;
    write(context, &value);
    ProtoWriter member;
    member.bytes(1, key_);
    member.bytes(2, value.view());
    out->bytes(field, member.view());
  }

 private:
  std::string key_;
  bool is_map_;
  std::optional<format::Format> text_;
  std::vector<OtelValue> items_;
};

void writeAttribute(std::string_view name, std::string_view text, ProtoWriter* out) {
  ProtoWriter value;
  value.bytes(kAnyText, text);
  ProtoWriter member;
  member.bytes(1, name);
  member.bytes(2, value.view());
  out->bytes(kAttributes, member.view());
}

class OtelEncoder final : public EntryEncoder {
 public:
  explicit OtelEncoder(const plan::OtelAccessLog& plan)
      : tags_(plan.tags),
        has_tags_(!plan.tags.empty()),
        filter_state_objects_(plan.filter_state_objects) {
    if (plan.body) body_.emplace(*plan.body);
    for (const plan::OtelValue& attribute : plan.attributes) attributes_.emplace_back(attribute);
  }

  void append(const format::FormatContext& context, std::string* out) const override {
    ProtoWriter record;
    record.fixed(kTime, context.start_time_us * 1000);
    if (body_) {
      ProtoWriter body;
      body_->write(context, &body);
      record.bytes(kBody, body.view());
    }
    for (const OtelValue& one : attributes_) one.writeMember(context, kAttributes, &record);
    for (const std::string& key : filter_state_objects_) {
      if (key != "envoy.filters.network.http_connection_manager.local_reply_owner") continue;
      if (context.local_reply_owner.empty()) continue;
      std::string json = "\"";
      json.append(context.local_reply_owner).append("\"");
      writeAttribute(key, json, &record);
    }
    tags_.forEach(context, [&](std::string_view name, std::string_view value) {
      writeAttribute(name, value, &record);
    });
    appendVarint(out, 2 << 3 | 2);
    appendVarint(out, record.view().size());
    out->append(record.view());
  }
  bool readsRequestHead() const override {
    return has_tags_ || (body_ && body_->readsRequestHead()) ||
           std::any_of(attributes_.begin(), attributes_.end(),
                       [](const OtelValue& one) { return one.readsRequestHead(); });
  }
  bool readsResponseHead() const override {
    return has_tags_ || (body_ && body_->readsResponseHead()) ||
           std::any_of(attributes_.begin(), attributes_.end(),
                       [](const OtelValue& one) { return one.readsResponseHead(); });
  }

 private:
  std::optional<OtelValue> body_;
  std::vector<OtelValue> attributes_;
  const LogTags tags_;
  const bool has_tags_;
  const std::vector<std::string> filter_state_objects_;
};

}  // namespace

std::unique_ptr<const EntryEncoder> makeOtelEncoder(const plan::OtelAccessLog& plan) {
  return std::make_unique<OtelEncoder>(plan);
}

}  // namespace fairlead::access_log
