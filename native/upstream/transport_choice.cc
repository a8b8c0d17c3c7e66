#include "upstream/transport_choice.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace fairlead::upstream {

namespace {

using InputKind = plan::MatchInput::Kind;

class HostFacts final : public match::Facts {
 public:
  explicit HostFacts(const plan::Host& host) : host_(host) {}

  std::optional<std::string_view> text(const plan::MatchInput& input, std::string*) const override {
    const bool is_locality = input.kind == InputKind::LocalityMetadata;
    if (!is_locality && input.kind != InputKind::EndpointMetadata) return std::nullopt;
    for (const plan::HostValue& value : host_.socket_values) {
      if (value.is_locality == is_locality && value.path == input.path &&
          value.metadata_namespace == input.metadata_namespace) {
        return value.value;
      }
    }
    return std::nullopt;
  }

 private:
  const plan::Host& host_;
};

bool has(const std::vector<std::string>& labels, const std::string& label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

}  // namespace

Result<TransportChoice> TransportChoice::build(std::vector<TransportMatch> matches,
                                               const Boxed<plan::MatchTree>& tree) {
  TransportChoice choice;
  choice.matches_ = std::move(matches);
  if (!tree) return choice;
  auto built = match::MatchTree::build(*tree);
  if (!built) return built.error();
  choice.tree_ = std::move(built.value());
  return choice;
}

const TransportMatch* TransportChoice::find(const plan::Host& host) const {
  if (!tree_) {
    if (matches_.empty()) return nullptr;
    const TransportMatch* const own = findByLabels(host.socket_labels);
    return own ? own : findByLabels(host.locality_socket_labels);
  }
  const int action = tree_->find(HostFacts(host));
  // One that is not there is none of a socket.
  const bool is_there = action >= 0 && static_cast<size_t>(action) < matches_.size();
  return is_there ? &matches_[static_cast<size_t>(action)] : nullptr;
}

const TransportMatch* TransportChoice::findByLabels(const std::vector<std::string>& labels) const {
  for (const TransportMatch& match : matches_) {
    const auto isThere = [&labels](const std::string& label) { return has(labels, label); };
    if (std::all_of(match.labels.begin(), match.labels.end(), isThere)) return &match;
  }
  return nullptr;
}

}  // namespace fairlead::upstream
