// Holds idle keep-alive connections: each one had a request answered and then says nothing more.
// The requests go one after another, so that the proxy needs only a few upstream connections.
//
//   idle_hold PORT PATH
//
// Reads a number per line from standard input, opens connections until there are so many, and
// prints the number back. Ends, and closes them all, with its input.
#include <vector>

#include "bench/load/exchange.h"

namespace fairlead::bench {
namespace {

class Crowd {
 public:
  Crowd(uint16_t port, std::string request) : port_(port), request_(std::move(request)) {}

  void growTo(size_t count) {
    while (connections_.size() < count) {
      connections_.push_back(connectBlocking(port_));
      exchange(connections_.back(), request_);
    }
  }

 private:
  const uint16_t port_;
  const std::string request_;
  std::vector<int> connections_;
};

}  // namespace
}  // namespace fairlead::bench

int main(int argc, char** argv) {
  using namespace fairlead::bench;
  if (argc != 3) {
    std::fprintf(stderr, "usage: idle_hold PORT PATH\n");
    return 2;
  }
  raiseDescriptorLimit();
  Crowd crowd(portArgument(argv[1]), requestFor(argv[2]));
  char line[64];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    const size_t count = std::strtoul(line, nullptr, 10);
    crowd.growTo(count);
    std::printf("%zu\n", count);
    std::fflush(stdout);
  }
}
