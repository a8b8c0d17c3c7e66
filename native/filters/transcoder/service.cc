#include "filters/transcoder/service.h"

#include <algorithm>
#include <utility>

namespace fairlead::transcoder {

namespace {

// Empty: `why` says what is not there.
std::vector<const Field*> resolve(const MessageType& type,
                                  const std::vector<std::string_view>& path, std::string* why) {
  std::vector<const Field*> fields;
  const MessageType* current = &type;
  for (const std::string_view name : path) {
    const Field* field = current->find(name);
    if (!field) field = current->find(decodePercents(name));
    if (!field) {
      *why = "Could not find field \"" + std::string(name) + "\" in the type \"" + current->name +
             "\".";
      return {};
    }
    fields.push_back(field);
    if (fields.size() == path.size()) break;
    if (field->kind != Kind::Message) {
      *why = "Encountered a non-leaf field \"" + field->name +
             "\" that is not a message while parsing a field path";
      return {};
    }
    current = field->message;
  }
  return fields;
}

std::vector<uint32_t> numbersOf(const MessageType& type, const std::vector<std::string>& path) {
  std::string why;
  std::vector<uint32_t> numbers;
  for (const Field* field : resolve(type, {path.begin(), path.end()}, &why)) {
    numbers.push_back(field->number);
  }
  return numbers;
}

std::vector<std::string_view> namesOf(std::string_view path) {
  std::vector<std::string_view> names;
  while (!path.empty()) {
    const size_t size = std::min(path.find('.'), path.size());
    if (size > 0) names.push_back(path.substr(0, size));
    path.remove_prefix(std::min(size + 1, path.size()));
  }
  return names;
}

std::string joined(const std::vector<std::string_view>& names) {
  std::string path;
  for (const std::string_view name : names) {
    if (!path.empty()) path.push_back('.');
    path.append(name);
  }
  return path;
}

}  // namespace

Result<std::unique_ptr<const Service>> Service::build(const plan::GrpcJsonTranscoder& plan) {
  std::unique_ptr<Service> service(new Service(plan));
  const plan::GrpcJsonTranscoder& own = service->plan_;
  Result<std::unique_ptr<const TypeTable>> types = TypeTable::build(own.messages, own.enums);
  if (!types) return types.error();
  service->types_ = std::move(types.value());
  for (const plan::TranscodedMethod& method : own.methods) {
    const MessageType* const input = service->types_->at(method.input);
    const MessageType* const output = service->types_->at(method.output);
    if (!input || !output) return Error{"a method without its messages: " + method.path};
    service->methods_.push_back({&method, input, output,
                                 numbersOf(*input, method.request_body_path),
                                 numbersOf(*output, method.response_body_path)});
  }
  for (const plan::HttpBinding& binding : own.bindings) {
    if (binding.method >= own.methods.size()) return Error{"a path without its method"};
  }
  service->print_options_ = {own.adds_whitespace, own.prints_defaults, own.prints_enums_as_numbers,
                             own.keeps_field_names};
  if (own.status_message) service->status_ = service->types_->at(*own.status_message);
  return std::unique_ptr<const Service>(std::move(service));
}

Service::Outcome Service::find(std::string_view http_method, std::string_view path, Call* call,
                               std::string* why) const {
  const size_t mark = std::min(path.find('?'), path.size());
  const std::string_view query = path.substr(std::min(mark + 1, path.size()));
  path = path.substr(0, mark);
  std::vector<BoundText> bound;
  const plan::HttpBinding* const binding = methods_by_path_.find(http_method, path, query, &bound);
  if (!binding) {
    *why = "Could not resolve " + std::string(path) + " to a method.";
    return Outcome::NoMethod;
  }
  call->method = &methods_[binding->method];
  if (binding->body != "*") call->body_path = namesOf(binding->body);
  for (BoundText& text : bound) {
    std::string problem;
    std::vector<const Field*> fields = resolve(*call->method->input, text.field_path, &problem);
    if (problem.empty()) {
      call->bindings.push_back({std::move(fields), std::move(text.value)});
    } else if (plan_.captures_unknown_query_parameters) {
      call->unknown.emplace_back(joined(text.field_path), std::move(text.value));
    } else if (!plan_.ignores_unknown_query_parameters) {
      *why = std::move(problem);
      return Outcome::BadParameter;
    }
  }
  return Outcome::Found;
}

}  // namespace fairlead::transcoder
