// A factory that makes no connections, but keeps the sockets that they would be made of.
#pragma once

#include <utility>
#include <vector>

#include "net/listener.h"

namespace fairlead::net {

class Keeping final : public ConnectionFactory {
 public:
  explicit Keeping(std::vector<AcceptedSocket>& kept) : kept_(kept) {}
  DownstreamConnection* accept(AcceptedSocket socket, ConnectionAccounts&) override {
    kept_.push_back(std::move(socket));
    return nullptr;
  }

 private:
  std::vector<AcceptedSocket>& kept_;
};

}  // namespace fairlead::net
