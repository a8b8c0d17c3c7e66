// What is seldom there: a pointer's room where it is not, memory of its own where it is.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

namespace fairlead {

// As std::optional, and copied with what is in it. A plan's messages are few and kept as long as
// what they describe, so that what most of them do not say should not have room in all of them.
// What copies and destroys is out of line: those of the plan's messages are compiled once, with it,
// where each file that touches one would have compiled those of all that is in it. What few of them
// need is a template of its own.
template <typename T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(std::nullopt_t) {}
  template <typename U>
    requires std::is_same_v<U, T>
  Boxed(U value) : value_(new T(std::move(value))) {}
  [[gnu::cold]] Boxed(const Boxed& other);
  Boxed(Boxed&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  [[gnu::cold]] Boxed& operator=(const Boxed& other);
  [[gnu::cold]] Boxed& operator=(Boxed&& other) noexcept;
  [[gnu::cold]] ~Boxed();

  explicit operator bool() const { return value_ != nullptr; }
  bool has_value() const { return value_ != nullptr; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_; }
  const T* operator->() const { return value_; }
  template <typename U>
  T value_or(U&& otherwise) const {
    return value_ ? *value_ : T(std::forward<U>(otherwise));
  }
  // Null: nothing is there.
  const T* get() const { return value_; }
  // What was there is gone.
  [[gnu::cold]] T& emplace();
  [[gnu::cold]] void reset();

 private:
  // Owned.
  T* value_ = nullptr;
};

template <typename T>
Boxed<T>::Boxed(const Boxed& other) : value_(other.value_ ? new T(*other.value_) : nullptr) {}

template <typename T>
Boxed<T>& Boxed<T>::operator=(const Boxed& other) {
  return *this = Boxed(other);
}

template <typename T>
Boxed<T>& Boxed<T>::operator=(Boxed&& other) noexcept {
  if (this == &other) return *this;
  delete std::exchange(value_, std::exchange(other.value_, nullptr));
  return *this;
}

template <typename T>
Boxed<T>::~Boxed() {
  delete value_;
}

template <typename T>
T& Boxed<T>::emplace() {
  delete std::exchange(value_, new T());
  return *value_;
}

template <typename T>
void Boxed<T>::reset() {
  delete std::exchange(value_, nullptr);
}

}  // namespace fairlead
