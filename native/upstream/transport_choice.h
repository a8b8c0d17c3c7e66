// Which of a cluster's transport sockets a host has: the first whose labels fit, or what a tree of
// matchers says. Part of the cluster; immutable; any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "match/match_tree.h"
#include "net/transport.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::upstream {

// How hosts of some metadata are reached.
struct TransportMatch {
  std::vector<std::string> labels;
  // Null: in the clear.
  net::SharedTransport transport;
  std::shared_ptr<stats::Block<stats::TransportMatch>> stats;
};

class TransportChoice {
 public:
  TransportChoice() = default;
  // `tree`: absent: labels say it. The error says what is not a tree.
  static Result<TransportChoice> build(std::vector<TransportMatch> matches,
                                       const Boxed<plan::MatchTree>& tree);

  // Null: none takes it.
  const TransportMatch* find(const plan::Host& host) const;

 private:
  // The host's own labels go before its locality's.
  const TransportMatch* findByLabels(const std::vector<std::string>& labels) const;

  std::vector<TransportMatch> matches_;
  std::optional<match::MatchTree> tree_;
};

}  // namespace fairlead::upstream
