#include "upstream/host.h"

namespace fairlead::upstream {

std::string Host::key() const {
  std::string key = text_;
  const auto add = [&key](std::string_view part) { key.append("|").append(part); };
  add(settings_.hostname);
  add(std::to_string(settings_.weight));
  add(std::to_string(settings_.priority));
  add(std::to_string(static_cast<int>(settings_.health)));
  add(settings_.region);
  add(settings_.zone);
  add(settings_.sub_zone);
  add(settings_.canary ? "canary" : "");
  add(std::to_string(settings_.locality_weight));
  return key;
}

}  // namespace fairlead::upstream
