// The route table that one worker goes by at one place of the configuration (a slot), and those
// before it that requests still stand on. Counted without atomics: the worker's thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "route/route_table.h"

namespace fairlead::route {

// A table and how many go by it here; gone with the last of them.
class TableInUse {
 public:
  explicit TableInUse(std::shared_ptr<const RouteTable> table) : table_(std::move(table)) {}

 private:
  friend class TablePin;

  const std::shared_ptr<const RouteTable> table_;
  uint32_t pins_ = 0;
};

// Keeps a table; empty: there is none.
class TablePin {
 public:
  TablePin() = default;
  explicit TablePin(std::shared_ptr<const RouteTable> table)
      : TablePin(table ? new TableInUse(std::move(table)) : nullptr) {}
  TablePin(const TablePin& other) : TablePin(other.table_) {}
  TablePin(TablePin&& other) noexcept : table_(std::exchange(other.table_, nullptr)) {}
  TablePin& operator=(TablePin other) noexcept {
    std::swap(table_, other.table_);
    return *this;
  }
  ~TablePin() { reset(); }

  void reset() {
    TableInUse* const table = std::exchange(table_, nullptr);
    if (table && --table->pins_ == 0) delete table;
  }
  explicit operator bool() const { return table_ != nullptr; }
  const RouteTable* operator->() const { return table_->table_.get(); }
  const RouteTable& operator*() const { return *table_->table_; }

 private:
  explicit TablePin(TableInUse* table) : table_(table) {
    if (table_) ++table_->pins_;
  }

  TableInUse* table_ = nullptr;
};

}  // namespace fairlead::route
