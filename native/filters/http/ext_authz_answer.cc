#include "filters/http/ext_authz_answer.h"

#include <algorithm>

#include "base/proto_reader.h"
#include "base/proto_writer.h"
#include "base/text.h"

namespace fairlead::filters {

namespace {

using Action = HeaderEdit::Action;

const std::string& headersToRemove() {
  static const std::string& name = *new std::string(http::ownHeader("auth-headers-to-remove"));
  return name;
}

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& c : made) c = lowerAscii(c);
  return made;
}

// The code of a message that has one for its first field.
uint64_t codeOf(std::string_view message) {
  ProtoReader reader(message);
  uint64_t code = 0;
  while (reader.next()) {
    if (reader.field() == 1) code = reader.number();
  }
  return code;
}

// envoy.config.core.v3.HeaderValueOption
AuthzAnswer::Edit readOption(std::string_view message, bool is_of_response, bool* is_unknown) {
  AuthzAnswer::Edit edit{Action::Add, {}, {}};
  bool has_append = false;
  bool appends = false;
  ProtoReader reader(message);
  while (reader.next()) {
    switch (reader.field()) {
      case 1: {
        ProtoReader header(reader.bytes());
        std::string_view raw;
        while (header.next()) {
          if (header.field() == 1) edit.name = lower(header.bytes());
          if (header.field() == 2) edit.value = header.bytes();
          if (header.field() == 3) raw = header.bytes();
        }
        if (edit.value.empty()) edit.value = raw;
        break;
      }
      case 2:
        has_append = true;
        appends = codeOf(reader.bytes()) != 0;
        break;
      case 3: {
        constexpr Action kActions[] = {Action::Add, Action::AddIfAbsent, Action::Set,
                                       Action::OverwriteIfExists};
        if (reader.number() < std::size(kActions)) {
          edit.action = kActions[reader.number()];
        } else {
          *is_unknown = *is_unknown || is_of_response;
          edit.action = Action::Set;
        }
        break;
      }
      default:
        break;
    }
  }
  // Of requests the real server asks for no more than that.
  if (!is_of_response) {
    edit.action = has_append && appends ? Action::Append : Action::Set;
  } else if (has_append) {
    edit.action = appends ? Action::Add : Action::Set;
  }
  return edit;
}

std::pair<std::string, std::string> readPair(std::string_view message) {
  std::pair<std::string, std::string> pair;
  ProtoReader reader(message);
  while (reader.next()) {
    if (reader.field() == 1) pair.first = reader.bytes();
    if (reader.field() == 2) pair.second = reader.bytes();
  }
  return pair;
}

// OkHttpResponse
void readOk(std::string_view message, AuthzAnswer* out) {
  ProtoReader reader(message);
  while (reader.next()) {
    switch (reader.field()) {
      case 2:
        out->edits.push_back(readOption(reader.bytes(), false, &out->has_unknown_action));
        break;
      case 3:
        out->metadata = reader.bytes();
        break;
      case 6:
        out->response_edits.push_back(readOption(reader.bytes(), true, &out->has_unknown_action));
        break;
      case 7:
        out->query_set.push_back(readPair(reader.bytes()));
        break;
      case 8:
        out->query_remove.emplace_back(reader.bytes());
        break;
      default:
        break;
    }
  }
  // Those of a kind go together.
  const auto group = [](const AuthzAnswer::Edit& edit) { return static_cast<int>(edit.action); };
  std::ranges::stable_sort(out->edits, {}, group);
  std::ranges::stable_sort(out->response_edits, {}, group);
  // Removed last, wherever they stand.
  ProtoReader again(message);
  while (again.next()) {
    if (again.field() == 5) out->edits.push_back({Action::Remove, lower(again.bytes()), {}});
  }
}

// DeniedHttpResponse
void readDenied(std::string_view message, AuthzAnswer* out) {
  ProtoReader reader(message);
  while (reader.next()) {
    switch (reader.field()) {
      case 1:
        if (const uint64_t code = codeOf(reader.bytes()); code >= 200 && code < 600) {
          out->http_status = static_cast<uint16_t>(code);
        }
        break;
      case 2: {
        // Nothing is there that a value could be appended to.
        AuthzAnswer::Edit edit = readOption(reader.bytes(), false, &out->has_unknown_action);
        if (edit.action != Action::Append) out->edits.push_back(std::move(edit));
        break;
      }
      case 3:
        out->body = reader.bytes();
        break;
      default:
        break;
    }
  }
}

}  // namespace

// CheckResponse
AuthzAnswer AuthzAnswer::ofGrpc(const calls::CallAnswer& answer) {
  AuthzAnswer made;
  if (answer.grpc_status != 0) return made;
  uint64_t code = 0;
  std::string_view denied, ok, error, metadata;
  ProtoReader reader(answer.body);
  while (reader.next()) {
    switch (reader.field()) {
      case 1:
        code = codeOf(reader.bytes());
        break;
      // The last of these three counts.
      case 2:
        denied = reader.bytes();
        ok = error = {};
        break;
      case 3:
        ok = reader.bytes();
        denied = error = {};
        break;
      case 4:
        metadata = reader.bytes();
        break;
      case 5:
        error = reader.bytes();
        denied = ok = {};
        break;
      default:
        break;
    }
  }
  if (!reader.isWhole()) return made;
  if (code == 0) {
    made.status = Status::Ok;
    readOk(ok, &made);
  } else if (error.data()) {
    readDenied(error, &made);
  } else {
    made.status = Status::Denied;
    made.http_status = 403;
    readDenied(denied, &made);
    if (made.http_status == 0) made.http_status = 403;
  }
  if (made.metadata.empty()) made.metadata = metadata;
  return made;
}

AuthzAnswer AuthzAnswer::ofHttp(const calls::CallAnswer& answer, const AuthzService& service) {
  AuthzAnswer made;
  if (answer.is_broken || answer.status >= 500) return made;
  const bool is_ok = answer.status == 200;
  made.status = is_ok ? Status::Ok : Status::Denied;
  made.http_status = answer.status;
  ProtoWriter metadata;
  std::vector<Edit> removed;
  std::vector<Edit> appended;
  for (const http::HeaderEntry& entry : *answer.headers) {
    if (entry.name_size == 0) continue;
    const std::string name(entry.name());
    const std::string value(entry.value());
    if (name == headersToRemove()) {
      forEachToken(value, [&](std::string_view one) {
        if (!one.empty()) removed.push_back({Action::Remove, lower(one), {}});
        return true;
      });
      continue;
    }
    if (service.metadata_headers.has(name)) {
      ProtoWriter text;
      text.bytes(3, value);
      ProtoWriter member;
      member.bytes(1, name);
      member.bytes(2, text.view());
      metadata.bytes(1, member.view());
    }
    if (is_ok) {
      if (service.upstream_headers.has(name)) made.edits.push_back({Action::Set, name, value});
      if (service.upstream_append_headers.has(name)) {
        appended.push_back({Action::Add, name, value});
      }
      if (service.client_headers_on_success.has(name)) {
        made.response_edits.push_back({Action::Add, name, value});
      }
      continue;
    }
    const bool is_told =
        !service.client_headers.isSet()
            ? name != "host"
            : service.client_headers.has(name) || name == "www-authenticate" || name == "location";
    if (is_told) made.edits.push_back({Action::Add, name, value});
  }
  made.metadata = metadata.take();
  if (!is_ok) {
    made.body = answer.body;
    return made;
  }
  made.edits.insert(made.edits.end(), appended.begin(), appended.end());
  made.edits.insert(made.edits.end(), removed.begin(), removed.end());
  return made;
}

void AuthzAnswer::addDuration(uint64_t micros) {
  ProtoWriter value;
  value.real(2, static_cast<double>(micros / 1000));
  ProtoWriter member;
  member.bytes(1, "ext_authz_duration");
  member.bytes(2, value.view());
  ProtoWriter all;
  all.bytes(1, member.view());
  metadata.append(all.view());
}

}  // namespace fairlead::filters
