#include "filters/transcoder/any_writer.h"

#include "filters/transcoder/wire.h"

namespace fairlead::transcoder {

namespace {

// Of objects, lists and values before the type of an Any: each takes many times its bytes in JSON.
constexpr size_t kMaxKept = 100'000;

}  // namespace

void AnyWriter::beginObject(std::string_view name) {
  ++depth_;
  if (!message_) return keep(Event::Kind::BeginObject, name);
  if (has_own_form_ && depth_ == 1) {
    expectValue(name);
    name = {};
  }
  message_->beginObject(name);
}

bool AnyWriter::endObject() {
  --depth_;
  if (!message_) {
    if (depth_ >= 0) keep(Event::Kind::EndObject);
  } else if (depth_ >= 0 || !has_own_form_) {
    message_->endObject();
  }
  if (depth_ >= 0) return true;
  write();
  return false;
}

void AnyWriter::beginList(std::string_view name) {
  ++depth_;
  if (!message_) return keep(Event::Kind::BeginList, name);
  if (has_own_form_ && depth_ == 1) {
    expectValue(name);
    name = {};
  }
  message_->beginList(name);
}

void AnyWriter::endList() {
  --depth_;
  if (!message_) return keep(Event::Kind::EndList);
  message_->endList();
}

void AnyWriter::scalar(std::string_view name, const JsonValue& value) {
  if (!message_) {
    if (depth_ == 0 && name == "@type") return start(value);
    keep(Event::Kind::Scalar, name);
    kept_.back().value = value;
    if (value.type() == JsonValue::Type::String) kept_.back().text = value.string();
    return;
  }
  if (depth_ > 0 || !has_own_form_) return message_->scalar(name, value);
  expectValue(name);
  if (is_scalar_) {
    // Errors of its value speak of the Any.
    std::string why;
    message_->begin(message_->type_);
    if (!message_->writeKnown(message_->type_.known, value, &why)) {
      message_->refuseValue("Any", why);
    }
    message_->pop();
  } else if (!value.isNull()) {
    refuse("Expect a JSON object.");
  }
}

void AnyWriter::start(const JsonValue& url) {
  if (is_refused_) return;
  if (url.type() != JsonValue::Type::String) {
    parent_.refuseValue("String", url.text());
    is_refused_ = true;
    return;
  }
  url_ = url.string();
  std::string why;
  const MessageType* const type = parent_.types_.resolve(url_, &why);
  if (!type) return refuse(why);
  is_scalar_ = type->known != KnownType::None && type->known != KnownType::Any &&
               type->known != KnownType::Struct && type->known != KnownType::ListValue;
  has_own_form_ = is_scalar_ || type->known == KnownType::Any || type->known == KnownType::Struct;
  message_ = std::make_unique<MessageWriter>(parent_.types_, *type, parent_.ignores_enum_case_,
                                             parent_.error_);
  if (!has_own_form_) message_->beginObject({});
  replay();
}

void AnyWriter::replay() {
  const std::vector<Event> events = std::move(kept_);
  kept_.clear();
  for (const Event& event : events) {
    switch (event.kind) {
      case Event::Kind::BeginObject:
        beginObject(event.name);
        break;
      case Event::Kind::EndObject:
        endObject();
        break;
      case Event::Kind::BeginList:
        beginList(event.name);
        break;
      case Event::Kind::EndList:
        endList();
        break;
      case Event::Kind::Scalar:
        scalar(event.name, event.value.type() == JsonValue::Type::String
                               ? JsonValue::of(std::string_view(event.text))
                               : event.value);
        break;
    }
  }
}

void AnyWriter::keep(Event::Kind kind, std::string_view name) {
  if (kept_.size() == kMaxKept) refuse("Too much comes before its @type.");
  if (is_refused_) kept_.clear();
  kept_.push_back({kind, std::string(name), JsonValue::null(), {}});
}

void AnyWriter::expectValue(std::string_view name) {
  if (name != "value") refuse("Expect a \"value\" field for well-known types.");
}

void AnyWriter::refuse(std::string_view why) {
  if (!is_refused_) parent_.refuseValue("Any", why);
  is_refused_ = true;
}

void AnyWriter::write() {
  if (!message_) {
    if (!kept_.empty()) {
      refuse("Missing @type for any field in " + parent_.type_.name);
    }
    return;
  }
  appendDelimited(&parent_.bytes_, 1, url_);
  std::string bytes;
  message_->appendTo(&bytes);
  if (!bytes.empty()) appendDelimited(&parent_.bytes_, 2, bytes);
}

}  // namespace fairlead::transcoder
