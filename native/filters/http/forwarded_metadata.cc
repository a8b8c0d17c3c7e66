#include "filters/http/forwarded_metadata.h"

#include "format/struct_metadata.h"
#include "net/downstream_connection.h"

namespace fairlead::filters {

namespace {

void addSpace(std::string_view space, const ProtoWriter& values, ProtoWriter* out) {
  ProtoWriter entry;
  entry.bytes(1, space);
  entry.bytes(2, values.view());
  out->bytes(1, entry.view());
}

}  // namespace

void addMetadata(const format::FormatContext& context, const std::vector<std::string>& namespaces,
                 ProtoWriter* out) {
  const net::Findings::Metadata* const of_connection = context.metadata ? context.metadata
                                                       : context.connection
                                                           ? context.connection->metadata()
                                                           : nullptr;
  for (const std::string& space : namespaces) {
    ProtoWriter values;
    bool is_there = false;
    for (size_t i = context.filter_metadata.size(); i > 0 && !is_there; --i) {
      const format::SetMetadata& set = context.filter_metadata[i - 1];
      if (set.space != space) continue;
      const auto* const all = set.metadata->find({});
      is_there = all && format::writeStruct(all->text, &values);
    }
    if (!is_there && of_connection) {
      const auto found = of_connection->find(space);
      is_there = found != of_connection->end();
      if (is_there) format::writeStruct(found->second, &values);
    }
    if (is_there) addSpace(space, values, out);
  }
}

namespace {

void addConfigured(const std::vector<plan::MetadataSpace>* spaces,
                   const std::vector<std::string>& namespaces, ProtoWriter* out) {
  if (!spaces) return;
  for (const std::string& name : namespaces) {
    for (const plan::MetadataSpace& space : *spaces) {
      if (space.name != name) continue;
      ProtoWriter values;
      for (const plan::MetadataValue& value : space.values) {
        if (value.path.empty()) format::writeStruct(value.text, &values);
      }
      addSpace(name, values, out);
    }
  }
}

// google.protobuf.Any
void addTyped(const plan::TypedMetadata& typed, ProtoWriter* out) {
  ProtoWriter any;
  if (!typed.type_url.empty()) any.bytes(1, typed.type_url);
  if (!typed.value.empty()) any.bytes(2, typed.value);
  ProtoWriter entry;
  entry.bytes(1, typed.name);
  entry.bytes(2, any.view());
  out->bytes(2, entry.view());
}

// What the PROXY protocol said of a connection: envoy.data.core.v3.TlvsMetadata.
plan::TypedMetadata tlvsOf(const std::string& name, const net::Findings::Values& values) {
  ProtoWriter all;
  for (const auto& [key, value] : values) {
    ProtoWriter entry;
    entry.bytes(1, key);
    entry.bytes(2, value);
    all.bytes(1, entry.view());
  }
  plan::TypedMetadata typed;
  typed.name = name;
  typed.type_url = "type.googleapis.com/envoy.data.core.v3.TlvsMetadata";
  typed.value = all.take();
  return typed;
}

const std::vector<plan::MetadataSpace>* spacesOf(const format::FormatContext& context,
                                                 plan::FormatPiece::MetadataSource source) {
  return context.configured_metadata[static_cast<size_t>(source)];
}

}  // namespace

void addClusterMetadata(const format::FormatContext& context,
                        const std::vector<std::string>& namespaces, ProtoWriter* out) {
  addConfigured(spacesOf(context, plan::FormatPiece::MetadataSource::Cluster), namespaces, out);
}

void addRouteMetadata(const format::FormatContext& context,
                      const std::vector<std::string>& namespaces, ProtoWriter* out) {
  addConfigured(spacesOf(context, plan::FormatPiece::MetadataSource::Route), namespaces, out);
}

void addTypedMetadata(const format::FormatContext& context,
                      const std::vector<std::string>& namespaces, ProtoWriter* out) {
  for (const std::string& name : namespaces) {
    const plan::TypedMetadata* found = nullptr;
    for (const plan::TypedMetadata* const set : context.typed_metadata) {
      if (set->name == name) found = set;
    }
    const net::Findings* const findings =
        context.connection ? context.connection->findings() : nullptr;
    if (found) {
      addTyped(*found, out);
    } else if (findings) {
      const auto raw = findings->raw_metadata.find(name);
      if (raw != findings->raw_metadata.end()) addTyped(tlvsOf(name, raw->second), out);
    }
  }
}

void addTypedMetadata(const std::vector<plan::TypedMetadata>* configured,
                      const std::vector<std::string>& namespaces, ProtoWriter* out) {
  if (!configured) return;
  for (const std::string& name : namespaces) {
    for (const plan::TypedMetadata& typed : *configured) {
      if (typed.name == name) addTyped(typed, out);
    }
  }
}

}  // namespace fairlead::filters
