// envoy.filters.http.ip_tagging: requests are told by headers in which lists of addresses their
// client is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/runtime_slots.h"
#include "filters/http/http_filter.h"
#include "format/header_name.h"
#include "net/cidr_trie.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

class IpTaggingConfig final : public HttpFilterConfig {
 public:
  struct Tag {
    std::string name;
    std::shared_ptr<stats::Block<stats::HttpIpTag>> stats;
  };

  IpTaggingConfig(const plan::IpTagging& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  plan::IpTagging::Requests requests() const { return requests_; }
  const std::vector<Tag>& tags() const { return tags_; }
  // Of all tags, by their places among them.
  const net::CidrTrie& ranges() const { return ranges_; }
  // Empty: the one that it has by default, to which tags are added.
  const format::HeaderName& header() const { return header_; }
  bool appends() const { return appends_; }
  stats::Shard<stats::HttpIpTagging>& stats(unsigned worker) const {
    return *stats_->shard(worker + 1);
  }

 private:
  const plan::IpTagging::Requests requests_;
  const format::HeaderName header_;
  const bool appends_;
  std::vector<Tag> tags_;
  net::CidrTrie ranges_;
  const std::shared_ptr<stats::Block<stats::HttpIpTagging>> stats_;
};

}  // namespace fairlead::filters
