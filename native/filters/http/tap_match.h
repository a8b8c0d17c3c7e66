// What a tap records: a tree of conditions on a request and its answer, which become known as they
// pass. The tree is immutable and shared; each request has states of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/message.h"
#include "plan/plan.gen.h"
#include "route/header_match.h"

namespace fairlead::filters {

class TapMatch {
 public:
  using Kind = plan::TapMatch::Kind;

  static Result<TapMatch> build(const plan::TapMatch& plan);

  // Of one request. Lives no longer than the tree.
  class Progress {
   public:
    explicit Progress(const TapMatch& match);

    void onRequestHead(const route::RequestView& request);
    void onHeaders(Kind kind, const http::HeaderMap& headers, std::string_view status = {});
    void onBody(Kind kind, std::string_view data);

    bool matches() const { return states_[0].matches; }
    // What is still to come may change that.
    bool mayChange() const { return states_[0].may_change; }

   private:
    struct State {
      bool matches = false;
      bool may_change = true;
      // Body conditions: which patterns were found, in how many bytes, and the last of these.
      uint64_t found = 0;
      uint64_t searched_bytes = 0;
      std::string tail;
    };
    template <typename Holds>
    void decide(Kind kind, Holds holds);
    void search(size_t node, std::string_view data);
    void conclude();

    const TapMatch& match_;
    std::vector<State> states_;
  };

 private:
  // In the order of a walk from the root: children come after their parents.
  struct Node {
    Kind kind = Kind::Any;
    std::vector<size_t> children;
    std::vector<route::HeaderMatch> headers;
    std::vector<std::string> patterns;
    uint32_t body_limit_bytes = 0;
    size_t longest_pattern = 0;
  };
  Result<size_t> add(const plan::TapMatch& plan);

  std::vector<Node> nodes_;
};

}  // namespace fairlead::filters
