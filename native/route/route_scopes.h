// Which route table a request goes by, where its listener has several: by a key that is made of its
// headers (envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes). Immutable;
// shared by all workers.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/name_ids.h"
#include "base/text.h"
#include "format/header_name.h"
#include "plan/plan.gen.h"
#include "route/request_view.h"

namespace fairlead::route {

class RouteScopes {
 public:
  // `tables`: the numbers of their names; outlives it.
  RouteScopes(const plan::ScopedRoutes& plan, NameIds& tables);

  struct Scope {
    NameIds::Ref table;
    // The table is asked for once a request wants it.
    bool on_demand = false;
  };

  // Null: the request has no key, or one that nobody has.
  const Scope* find(const RequestView& request) const;

 private:
  struct Fragment {
    HeaderName header;
    std::string element_separator;
    uint32_t index;
    std::string key_separator;
    std::string key;

    // False: there is none.
    bool read(const RequestView& request, std::string* to) const;
  };

  std::vector<Fragment> fragments_;
  // By the fragments of their keys, each with its length before it.
  std::unordered_map<std::string, Scope> scopes_;
};

}  // namespace fairlead::route
