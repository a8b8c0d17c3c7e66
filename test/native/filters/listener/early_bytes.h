// A connection's first bytes for a listener filter under test, as they come.
#pragma once

#include <string>
#include <string_view>

#include "net/listener_filter.h"
#include "test/native/test.h"

namespace fairlead::test {

using Verdict = net::ListenerFilter::Verdict;

class EarlyBytes final : public net::EarlySocket {
 public:
  EarlyBytes() {
    FL_CHECK(net::parseIp("127.0.0.1:5000", &accepted_.remote));
    FL_CHECK(net::parseIp("127.0.0.1:80", &accepted_.local));
    accepted_.findings = std::make_unique<net::Findings>();
    accepted_.findings->direct_remote = accepted_.remote;
    accepted_.findings->direct_local = accepted_.local;
  }

  net::AcceptedSocket& socket() override { return accepted_; }
  std::string_view peek() override { return bytes_; }
  bool take(size_t bytes) override {
    FL_CHECK(bytes <= bytes_.size());
    bytes_.erase(0, bytes);
    return true;
  }

  // What comes next, and what the filter says of it.
  Verdict feed(net::ListenerFilter& filter, std::string_view bytes) {
    bytes_ += bytes;
    return filter.look(*this);
  }
  // The same in pieces of that many bytes, until it no longer waits.
  Verdict feedInPieces(net::ListenerFilter& filter, std::string_view bytes, size_t piece) {
    Verdict verdict = feed(filter, "");
    for (size_t at = 0; at < bytes.size(); at += piece) {
      if (verdict != Verdict::Wait) {
        bytes_ += bytes.substr(at);
        return verdict;
      }
      verdict = feed(filter, bytes.substr(at, piece));
    }
    return verdict;
  }
  std::string_view left() const { return bytes_; }

 private:
  net::AcceptedSocket accepted_;
  std::string bytes_;
};

}  // namespace fairlead::test
