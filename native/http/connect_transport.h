// A tunnel beneath a connection: the first thing said on it is a CONNECT, in HTTP/1, and it is
// there once that is granted. What follows are its bytes.
#pragma once

#include <memory>
#include <string>

#include "net/transport.h"

namespace fairlead::http {

// `head`: the request whole. `inner`: what carries it; null: a raw socket. `answer`: where the head
// of the answer goes, with what came behind one that grants nothing; null: nowhere.
std::unique_ptr<net::Transport> makeConnectTransport(std::string head,
                                                     std::unique_ptr<net::Transport> inner,
                                                     std::shared_ptr<std::string> answer = nullptr);

}  // namespace fairlead::http
