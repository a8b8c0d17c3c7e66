// The route tables of one worker, by slot: connection managers name a slot, and a table that comes
// later takes the place of the one before it for requests that begin from then on. The worker's
// thread.
#pragma once

#include <memory>
#include <vector>

#include "route/table_in_use.h"

namespace fairlead::route {

class WorkerRoutes {
 public:
  // Null: there is no table from here on.
  void set(uint32_t slot, std::shared_ptr<const RouteTable> table) {
    if (slot >= slots_.size()) slots_.resize(slot + 1);
    slots_[slot] = TablePin(std::move(table));
  }
  // Empty: no table has come yet.
  TablePin pin(uint32_t slot) const { return slot < slots_.size() ? slots_[slot] : TablePin(); }
  void clear() { slots_.clear(); }

 private:
  std::vector<TablePin> slots_;
};

}  // namespace fairlead::route
