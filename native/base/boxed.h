// What is seldom there: a pointer's room where it is not, memory of its own where it is.
#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace fairlead {

// As std::optional, and copied with what is in it. A plan's messages are few and kept as long as
// what they describe, so that what most of them do not say should not have room in all of them.
template <typename T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(std::nullopt_t) {}
  Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Boxed(const Boxed& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed& other) { return *this = Boxed(other); }
  Boxed& operator=(Boxed&&) noexcept = default;
  ~Boxed() = default;

  explicit operator bool() const { return value_ != nullptr; }
  bool has_value() const { return value_ != nullptr; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  T value_or(T otherwise) const { return value_ ? *value_ : std::move(otherwise); }
  // Null: nothing is there.
  const T* get() const { return value_.get(); }
  // What was there is gone.
  T& emplace() { return *(value_ = std::make_unique<T>()); }
  void reset() { value_.reset(); }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace fairlead
