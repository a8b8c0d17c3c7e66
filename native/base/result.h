// Result<T>: a value or why there is none. Errors are values; nothing in native/ throws.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/check.h"

namespace fairlead {

struct Error {
  // What is wrong, in words for a person: where, what, what was expected.
  std::string message;
};

// Either a T or an Error. Move-only use is fine; ask ok() before value().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  T& value() {
    FL_CHECK(ok());
    return *value_;
  }
  const T& value() const {
    FL_CHECK(ok());
    return *value_;
  }
  const Error& error() const { return error_; }

 private:
  std::optional<T> value_;
  Error error_;
};

// Success, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), failed_(true) {}

  bool ok() const { return !failed_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return error_; }

 private:
  Error error_;
  bool failed_ = false;
};

}  // namespace fairlead
