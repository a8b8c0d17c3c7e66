// Intrusive doubly linked list: an element is on at most one list at a time through one base, and
// leaves it in O(1) without knowing which. Owns nothing. One thread.
#pragma once

#include "base/check.h"

namespace fairlead {

template <typename T>
class List;

template <typename T>
class ListNode {
 public:
  ListNode() = default;
  ListNode(const ListNode&) = delete;
  ListNode& operator=(const ListNode&) = delete;
  ~ListNode() { unlink(); }

  bool isLinked() const { return next_ != nullptr; }
  void unlink() {
    if (!next_) return;
    prev_->next_ = next_;
    next_->prev_ = prev_;
    prev_ = next_ = nullptr;
  }

 private:
  friend class List<T>;
  ListNode* prev_ = nullptr;
  ListNode* next_ = nullptr;
};

template <typename T>
class List {
 public:
  List() { head_.prev_ = head_.next_ = &head_; }
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  ~List() {
    while (!empty()) head_.next_->unlink();
    head_.prev_ = head_.next_ = nullptr;
  }

  bool empty() const { return head_.next_ == &head_; }
  T* front() { return empty() ? nullptr : static_cast<T*>(head_.next_); }
  T* back() { return empty() ? nullptr : static_cast<T*>(head_.prev_); }
  void pushFront(T* element) { insertAfter(&head_, element); }
  void pushBack(T* element) { insertAfter(head_.prev_, element); }
  T* popFront() {
    T* element = front();
    if (element) static_cast<ListNode<T>*>(element)->unlink();
    return element;
  }
  // The element after `element`; null at the end.
  T* next(T* element) {
    ListNode<T>* node = static_cast<ListNode<T>*>(element)->next_;
    return node == &head_ ? nullptr : static_cast<T*>(node);
  }
  // Every element moves to the end of `to`, in order.
  void moveAllTo(List& to) {
    while (T* element = popFront()) to.pushBack(element);
  }

 private:
  static void insertAfter(ListNode<T>* where, ListNode<T>* element) {
    FL_DCHECK(!element->isLinked());
    element->prev_ = where;
    element->next_ = where->next_;
    where->next_->prev_ = element;
    where->next_ = element;
  }

  ListNode<T> head_;
};

}  // namespace fairlead
