// The route tables of the data plane by name. A connection manager names a slot, whose number
// workers know, and finds whatever table is there when a request comes. The control thread's.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/name_ids.h"
#include "base/result.h"
#include "base/runtime_slots.h"
#include "route/route_table.h"
#include "worker/delta.h"
#include "worker/retired.h"

namespace fairlead::worker {

class RouteTables {
 public:
  // `ids`: what numbers their names have; `clusters`: those of clusters' names.
  RouteTables(NameIds& ids, NameIds& clusters, RuntimeSlots& slots, Retired& retired,
              stats::Registry& registry, route::BuildFilterConfig build_filter)
      : ids_(ids),
        clusters_(clusters),
        slots_(slots),
        retired_(retired),
        registry_(registry),
        build_filter_(std::move(build_filter)) {}

  // In the place of the table of that name, if there is one: for requests that begin later.
  Result<void> apply(const plan::RouteTable& plan, Delta* delta) {
    auto built =
        route::RouteTable::build(plan, clusters_, &slots_, build_filter_, &registry_, &ids_);
    if (!built) return built.error();
    Entry& entry = tables_[plan.name];
    if (!entry.slot) entry.slot = ids_.hold(plan.name);
    retired_.add(std::exchange(entry.table, std::move(built.value())));
    delta->push_back(RouteChange{entry.slot.id(), entry.table});
    return {};
  }

  // Where the table of that name is, or will be.
  NameIds::Ref slotOf(const std::string& name) { return ids_.hold(name); }

  // False: there is none of that name.
  bool remove(const std::string& name, Delta* delta) {
    const auto found = tables_.find(name);
    if (found == tables_.end()) return false;
    delta->push_back(RouteChange{found->second.slot.id(), nullptr});
    retired_.add(std::move(found->second.table));
    tables_.erase(found);
    return true;
  }

  // It goes with the last connection manager that names it.
  void leave(const std::string& name) { left_.push_back(name); }
  void removeLeft(Delta* delta) {
    std::erase_if(left_, [&](const std::string& name) {
      const auto found = tables_.find(name);
      if (found == tables_.end()) return true;
      Entry& entry = found->second;
      const uint32_t id = entry.slot.id();
      const size_t names = ids_.count();
      entry.slot = {};
      // Somebody else holds it still.
      if (ids_.count() == names) {
        entry.slot = ids_.hold(name);
        return false;
      }
      delta->push_back(RouteChange{id, nullptr});
      retired_.add(std::move(entry.table));
      tables_.erase(found);
      return true;
    });
  }

 private:
  struct Entry {
    NameIds::Ref slot;
    std::shared_ptr<const route::RouteTable> table;
  };

  NameIds& ids_;
  NameIds& clusters_;
  RuntimeSlots& slots_;
  Retired& retired_;
  stats::Registry& registry_;
  const route::BuildFilterConfig build_filter_;
  std::unordered_map<std::string, Entry> tables_;
  std::vector<std::string> left_;
};

}  // namespace fairlead::worker
