#include "filters/http/original_src.h"

#include "net/original_source.h"

namespace fairlead::filters {

namespace {

class OriginalSrcFilter final : public HttpFilter {
 public:
  OriginalSrcFilter(const plan::OriginalSrcFilter& plan, const FilterScope& scope,
                    FilterPlace& place)
      : plan_(plan), scope_(scope), place_(place) {}

  FilterStatus onRequestHead(http::RequestHead&, const route::RequestView&, bool) override {
    format::FormatContext context;
    place_.describe(&context);
    if (!context.downstream_remote || !context.downstream_remote->isIp()) {
      return FilterStatus::Continue;
    }
    net::Address client = net::Address::fromIp(context.downstream_remote->ipBytes(), 0);
    scope_.notes.source = std::make_shared<const net::OriginalSource>(
        net::OriginalSource{std::move(client), plan_.mark});
    return FilterStatus::Continue;
  }

 private:
  const plan::OriginalSrcFilter& plan_;
  const FilterScope& scope_;
  FilterPlace& place_;
};

}  // namespace

OriginalSrcFilterConfig::OriginalSrcFilterConfig(const plan::OriginalSrcFilter& plan)
    : plan_(plan) {
  net::wantSource();
}

HttpFilter* OriginalSrcFilterConfig::make(FilterMemory& memory, const FilterScope& scope,
                                          FilterPlace& place) const {
  return memory.make<OriginalSrcFilter>(plan_, scope, place);
}

}  // namespace fairlead::filters
