#include "filters/http/forwarded_metadata.h"

#include "format/struct_metadata.h"

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
  for (const std::string& space : namespaces) {
    ProtoWriter values;
    bool is_there = false;
    for (size_t i = context.filter_metadata.size(); i > 0 && !is_there; --i) {
      const format::SetMetadata& set = context.filter_metadata[i - 1];
      if (set.space != space) continue;
      const auto* const all = set.metadata->find({});
      is_there = all && format::writeStruct(all->text, &values);
    }
    if (!is_there && context.metadata) {
      const auto found = context.metadata->find(space);
      is_there = found != context.metadata->end();
      if (is_there) format::writeStruct(found->second, &values);
    }
    if (is_there) addSpace(space, values, out);
  }
}

void addClusterMetadata(const format::FormatContext& context,
                        const std::vector<std::string>& namespaces, ProtoWriter* out) {
  using Source = plan::FormatPiece::MetadataSource;
  const auto* const spaces = context.configured_metadata[static_cast<size_t>(Source::Cluster)];
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

}  // namespace fairlead::filters
