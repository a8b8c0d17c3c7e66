// One sequence in byte order of the full names, out of many that are sorted in themselves. Sources
// come sorted by the prefix of their names; one is opened when its turn is near, so that few are
// open at a time, however many there are.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

namespace fairlead::stats {

// The order of a + a_rest and b + b_rest, without making either.
inline int compareJoined(std::string_view a, std::string_view a_rest, std::string_view b,
                         std::string_view b_rest) {
  if (a.size() > b.size()) return -compareJoined(b, b_rest, a, a_rest);
  if (const int order = a.compare(b.substr(0, a.size()))) return order;
  const std::string_view middle = b.substr(a.size());
  if (const int order = a_rest.substr(0, middle.size()).compare(middle)) return order;
  return a_rest.substr(middle.size()).compare(b_rest);
}

enum class Step : uint8_t {
  Item,
  // The budget is used up: go on with a new one.
  Pause,
  End,
};

// `Source`: a type `Stream` with prefix(), name() and done(), advance(); and of its own size(),
// prefix(i), and open(i, stream), which returns how many names it looked at.
template <typename Source>
class OrderedMerge {
 public:
  using Stream = typename Source::Stream;

  explicit OrderedMerge(Source source) : source_(std::move(source)) {}

  // The stream whose item is next. Valid until pop().
  Step peek(Stream** top, size_t* budget) {
    while (opened_ < source_.size() && isDue(source_.prefix(opened_))) {
      if (*budget == 0) return Step::Pause;
      open(budget);
    }
    if (heap_.empty()) return Step::End;
    *top = heap_.front().get();
    return Step::Item;
  }

  // Past the item that peek() gave.
  void pop() {
    heap_.front()->advance();
    if (heap_.size() == 1 && !heap_.front()->done()) return;
    std::pop_heap(heap_.begin(), heap_.end(), isLater);
    if (heap_.back()->done()) {
      spare_.push_back(std::move(heap_.back()));
      heap_.pop_back();
    } else {
      std::push_heap(heap_.begin(), heap_.end(), isLater);
    }
  }

 private:
  static bool isLater(const std::unique_ptr<Stream>& a, const std::unique_ptr<Stream>& b) {
    return compareJoined(a->prefix(), a->name(), b->prefix(), b->name()) > 0;
  }
  bool isDue(std::string_view prefix) const {
    return heap_.empty() ||
           compareJoined(prefix, "", heap_.front()->prefix(), heap_.front()->name()) <= 0;
  }
  void open(size_t* budget) {
    if (spare_.empty()) spare_.push_back(std::make_unique<Stream>());
    std::unique_ptr<Stream> stream = std::move(spare_.back());
    spare_.pop_back();
    *budget -= std::min(*budget, source_.open(opened_++, stream.get()));
    if (stream->done()) {
      spare_.push_back(std::move(stream));
      return;
    }
    heap_.push_back(std::move(stream));
    std::push_heap(heap_.begin(), heap_.end(), isLater);
  }

  Source source_;
  size_t opened_ = 0;
  std::vector<std::unique_ptr<Stream>> heap_;
  std::vector<std::unique_ptr<Stream>> spare_;
};

}  // namespace fairlead::stats
