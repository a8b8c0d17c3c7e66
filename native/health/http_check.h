// Checks by HTTP, and by gRPC on it: one request, whose answer says how the host is. The checker's
// thread.
#pragma once

#include <memory>
#include <string>

#include "health/check.h"
#include "http/codecs.h"

namespace fairlead::health {

class HttpCheck : public Check {
 public:
  using Check::Check;
  ~HttpCheck() override;

 protected:
  // What is kept of an answer.
  struct Answer {
    uint16_t status = 0;
    bool is_degraded = false;
    bool excludes_host = false;
    bool is_grpc = false;
    std::string cluster;
    // -1: it has not been said.
    int grpc_status = -1;
    std::string body;
  };

  virtual void sendRequest(http::ClientStream& stream);
  // Ends with succeed() or fail().
  virtual void judge(const Answer& answer);
  // The rest of the answer is not wanted: it is judged as it is so far.
  virtual bool knowsEnough(const Answer&) const { return false; }
  // How much of a body is kept.
  virtual size_t mostBodyBytes() const;

  void sendHead(http::ClientStream& stream, std::string_view method, std::string_view path,
                http::HeaderMap& headers, bool end);

 private:
  // A connection to the host, with the exchange on it. Frees itself with the turn in which it
  // closes.
  class Link;

  // Check
  void begin() final;
  void giveUp() final;

  // What the link tells.
  void onReady();
  void onAnswer(const Answer& answer, bool is_last);
  // The exchange alone is over; the connection may be, too, which is told next.
  void onReset();
  void onLost(bool was_answering);
  void abandon();

  // Null: there is none.
  Link* link_ = nullptr;
};

class GrpcCheck final : public HttpCheck {
 public:
  using HttpCheck::HttpCheck;

 private:
  void sendRequest(http::ClientStream& stream) override;
  void judge(const Answer& answer) override;
  bool knowsEnough(const Answer& answer) const override;
  size_t mostBodyBytes() const override { return 64 * 1024; }
};

// Whether the bytes are one message of gRPC, a HealthCheckResponse that says SERVING.
bool saysServing(std::string_view body);

}  // namespace fairlead::health
