// A tunnel beneath a connection: the first thing said on it is a CONNECT, in HTTP/1, and it is
// there once that is granted. What follows are its bytes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/transport.h"

namespace fairlead::http {

// What became of the question.
struct ConnectAnswer {
  // The host is there, and was asked.
  bool is_asked = false;
  // Called then, once; empty: nobody wants to know.
  std::function<void()> on_asked = {};
  // What it said is no answer, or not all of one.
  bool is_broken = false;
  // The heads of answers that came before it.
  std::string interim;
  // The head, with what came behind one that grants nothing.
  std::string head;
};

// `head`: the request whole. `inner`: what carries it; null: a raw socket. `answer`: where it is
// told; null: nowhere.
std::unique_ptr<net::Transport> makeConnectTransport(
    std::string head, std::unique_ptr<net::Transport> inner,
    std::shared_ptr<ConnectAnswer> answer = nullptr);

}  // namespace fairlead::http
