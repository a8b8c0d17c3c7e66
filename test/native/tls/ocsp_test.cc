// OCSP responses that go with a server's certificate, or do not. What is expected is what the real
// server does.
#include "test/native/test.h"
#include "test/native/tls/pair.h"
#include "tls/info.h"

namespace fairlead::tls {

namespace {

using test::Authority;
using test::TlsEnd;
using test::TlsSide;
using Policy = plan::TlsServer::OcspPolicy;
using SslCounter = stats::Ssl::Counter;

constexpr long kOld = -60;
constexpr long kGood = 3600;

const Authority& issuer() {
  static const Authority& own = *new Authority;
  return own;
}

SSL* sslOf(TlsEnd& end) {
  return static_cast<const Info&>(*end.operator->()->transport()->tls()).ssl();
}

plan::TlsContext withResponse(const test::Identity& identity, std::string response, Policy policy) {
  plan::TlsContext plan = test::serverPlan({identity});
  plan.certificates.front().ocsp_response = std::move(response);
  plan.server->ocsp_policy = policy;
  return plan;
}

struct Outcome {
  bool works = false;
  std::string stapled;
};

// A client that asks for a response.
Outcome connect(const TlsSide& server_side, const TlsSide& client_side, bool asks = true) {
  int ends[2];
  FL_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
  net::Loop loop;
  Outcome outcome;
  {
    TlsEnd server(loop, net::FileDescriptor(ends[0]), server_side);
    TlsEnd client(loop, net::FileDescriptor(ends[1]), client_side);
    if (asks) SSL_set_tlsext_status_type(sslOf(client), TLSEXT_STATUSTYPE_ocsp);
    for (int i = 0; i < 20; ++i) loop.turn(0);
    outcome.works = server.readied == 0 && client.readied == 0;
    const unsigned char* bytes = nullptr;
    const long size = SSL_get_tlsext_status_ocsp_resp(sslOf(client), &bytes);
    if (size > 0) outcome.stapled.assign(reinterpret_cast<const char*>(bytes), size);
    if (!outcome.works) {
      EXPECT_EQ(server.failure(),
                "TLS_error:|268435589:SSL routines:OPENSSL_internal:CONNECTION_REJECTED:"
                "TLS_error_end");
    }
  }
  loop.turn(0);
  return outcome;
}

}  // namespace

TEST("A response goes to who asks; what becomes of others without one is the policy's") {
  const test::Identity identity = issuer().sign("server");
  const test::Identity strict_itself = issuer().sign("server", "", false, 10, true);
  const std::string good = issuer().vouchFor(identity, kGood);
  const std::string old = issuer().vouchFor(identity, kOld);
  const std::string endless = issuer().vouchFor(identity, std::nullopt);
  struct Trial {
    plan::TlsContext plan;
    bool works;
    std::string stapled;
    SslCounter counter;
  };
  const Trial trials[] = {
      {withResponse(identity, good, Policy::Lenient), true, good, SslCounter::OcspStapleResponses},
      {withResponse(identity, good, Policy::MustStaple), true, good,
       SslCounter::OcspStapleResponses},
      {withResponse(identity, old, Policy::Lenient), true, "", SslCounter::OcspStapleOmitted},
      {withResponse(identity, endless, Policy::Lenient), true, "", SslCounter::OcspStapleOmitted},
      {withResponse(identity, "", Policy::Lenient), true, "", SslCounter::OcspStapleOmitted},
      {withResponse(identity, "", Policy::Strict), true, "", SslCounter::OcspStapleOmitted},
      {withResponse(identity, old, Policy::Strict), false, "", SslCounter::OcspStapleFailed},
      {withResponse(identity, endless, Policy::Strict), false, "", SslCounter::OcspStapleFailed},
      {withResponse(identity, old, Policy::MustStaple), false, "", SslCounter::OcspStapleFailed},
      {withResponse(strict_itself, issuer().vouchFor(strict_itself, kOld), Policy::Lenient), false,
       "", SslCounter::OcspStapleFailed},
  };
  for (const uint32_t version : {test::kTls12, test::kTls13}) {
    plan::TlsContext client_plan = test::clientPlan();
    client_plan.max_version = version;
    for (const Trial& trial : trials) {
      const TlsSide server(trial.plan);
      const TlsSide client(client_plan);
      const Outcome outcome = connect(server, client);
      EXPECT_EQ(outcome.works, trial.works);
      EXPECT(outcome.stapled == trial.stapled);
      EXPECT_EQ(server.count(SslCounter::OcspStapleRequests), 1u);
      EXPECT_EQ(server.count(trial.counter), 1u);
      // Who does not ask is let in.
      EXPECT(connect(server, client, false).works);
      EXPECT_EQ(server.count(SslCounter::OcspStapleRequests), 1u);
    }
  }
}

TEST("Of two certificates that fit, the one is shown for which the policy has a response") {
  const test::Identity first = issuer().sign("first", "DNS:a.test");
  const test::Identity second = issuer().sign("second", "DNS:b.test");
  plan::TlsContext plan = test::serverPlan({first, second});
  plan.server->ocsp_policy = Policy::Strict;
  plan.certificates[0].ocsp_response = issuer().vouchFor(first, kOld);
  plan.certificates[1].ocsp_response = issuer().vouchFor(second, kGood);
  const TlsSide server(plan);
  const TlsSide client(test::clientPlan());
  EXPECT(connect(server, client).stapled == plan.certificates[1].ocsp_response);
}

TEST("What is no response for the certificate is refused, and why") {
  const test::Identity identity = issuer().sign("server");
  const test::Identity other = issuer().sign("other");
  const test::Identity strict_itself = issuer().sign("server", "", false, 10, true);
  const std::string good = issuer().vouchFor(identity, kGood);
  const auto refusal = [](const plan::TlsContext& plan) {
    const auto context = Context::build(plan, {});
    return context.ok() ? std::string() : context.error().message;
  };
  EXPECT_EQ(refusal(withResponse(identity, good, Policy::Lenient)), "");
  EXPECT_EQ(refusal(withResponse(other, good, Policy::Lenient)),
            "OCSP response does not match its TLS certificate");
  EXPECT_EQ(refusal(withResponse(identity, good + "x", Policy::Lenient)),
            "Data contained more than a single OCSP response");
  EXPECT_EQ(refusal(withResponse(identity, "x", Policy::Lenient)),
            "Data contained more than a single OCSP response");
  EXPECT_EQ(
      refusal(withResponse(identity, std::string("\x30\x03\x0a\x01\x06", 5), Policy::Lenient)),
      "OCSP response was unsuccessful");
  EXPECT_EQ(refusal(withResponse(identity, "", Policy::MustStaple)),
            "Required OCSP response is missing from TLS context");
  EXPECT_EQ(refusal(withResponse(strict_itself, "", Policy::Lenient)),
            "OCSP response is required for must-staple certificate");
}

}  // namespace fairlead::tls
