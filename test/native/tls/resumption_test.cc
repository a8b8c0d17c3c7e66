// Sessions that later connections resume, and those that none may.
#include "test/native/test.h"
#include "test/native/tls/pair.h"
#include "tls/info.h"
#include "tls/transport.h"

namespace fairlead::tls {

namespace {

using net::TlsValue;
using test::Authority;
using test::authority;
using test::clientPlan;
using test::serverPlan;
using test::TlsEnd;
using test::TlsPair;
using test::TlsSide;
using SslCounter = stats::Ssl::Counter;

}  // namespace

TEST("Later connections resume the session of earlier ones, without asking for the certificate") {
  const TlsSide server(serverPlan({authority().sign("server", "DNS:server.test")}));
  for (const uint32_t version : {test::kTls12, test::kTls13}) {
    plan::TlsContext plan = clientPlan(authority().pem());
    plan.max_version = version;
    plan.sni = "server.test";
    const TlsSide client(plan);
    for (int i = 0; i < 3; ++i) {
      TlsPair pair(server, client);
      EXPECT_EQ(pair.client->readied, 0);
      pair.server->write("x");
      pair.settle();
    }
    EXPECT_EQ(client.count(SslCounter::SessionReused), 2u);
  }
  EXPECT_EQ(server.count(SslCounter::SessionReused), 4u);
}

TEST("With the same ticket keys another server resumes; with keys of its own it does not") {
  const test::Identity identity = authority().sign("server");
  const auto resumed = [&identity](char first, char second) {
    plan::TlsContext plan = serverPlan({identity});
    plan.server->ticket_keys = {std::string(80, first)};
    const TlsSide one(plan);
    plan.server->ticket_keys = {std::string(80, 'n'), std::string(80, second)};
    const TlsSide other(plan);
    const TlsSide client(clientPlan());
    for (const TlsSide* server : {&one, &other}) {
      TlsPair pair(*server, client);
      pair.server->write("x");
      pair.settle();
    }
    return other.count(SslCounter::SessionReused);
  };
  EXPECT_EQ(resumed('a', 'a'), 1u);
  EXPECT_EQ(resumed('a', 'b'), 0u);
}

TEST("Tickets of TLS 1.3 are for one use: who has used one gets another, whoever made the keys") {
  plan::TlsContext plan = serverPlan({authority().sign("server")});
  plan.server->ticket_keys = {std::string(80, 'k')};
  const TlsSide server(plan);
  const TlsSide client(clientPlan());
  for (int i = 0; i < 4; ++i) {
    TlsPair pair(server, client);
    EXPECT_EQ(pair.client->value(TlsValue::Version), "TLSv1.3");
    pair.server->write("x");
    pair.settle();
  }
  EXPECT_EQ(server.count(SslCounter::SessionReused), 3u);
}

TEST("A session is not good where more is asked of clients, whatever the ticket keys") {
  const test::Identity identity = authority().sign("server", "DNS:server.test");
  const test::Identity ann = authority().sign("ann");
  const Authority other_authority("other-ca");
  plan::TlsContext lax = serverPlan({identity});
  lax.server->ticket_keys = {std::string(80, 'k')};
  plan::TlsContext strict = lax;
  strict.server->requires_certificate = true;
  strict.validation.emplace().trusted_ca = authority().pem();
  plan::TlsContext of_others = strict;
  of_others.validation->trusted_ca = other_authority.pem();
  plan::TlsContext of_bob = strict;
  of_bob.validation->subjects.emplace_back().match.emplace().value = "bob.test";
  plan::TlsContext other_names = lax;
  other_names.certificates.clear();
  test::addIdentity(&other_names, authority().sign("admin", "DNS:admin.test"));
  plan::TlsContext renewed = lax;
  renewed.certificates.clear();
  test::addIdentity(&renewed, authority().sign("server", "DNS:server.test"));
  struct Trial {
    const plan::TlsContext& from;
    const plan::TlsContext& to;
    bool shows_certificate;
    int expected;
    uint64_t resumed;
  };
  const Trial trials[] = {
      {lax, lax, false, 0, 1},           {lax, strict, false, EPROTO, 0},
      {strict, strict, true, 0, 1},      {strict, of_others, true, EPROTO, 0},
      {strict, of_bob, true, EPROTO, 0}, {lax, other_names, false, 0, 0},
      {lax, renewed, false, 0, 1},
  };
  for (const uint32_t version : {test::kTls12, test::kTls13}) {
    for (const Trial& trial : trials) {
      const TlsSide from(trial.from);
      const TlsSide to(trial.to);
      plan::TlsContext plan = clientPlan();
      plan.max_version = version;
      if (trial.shows_certificate) test::addIdentity(&plan, ann);
      const TlsSide client(plan);
      {
        TlsPair pair(from, client);
        EXPECT_EQ(pair.server->readied, 0);
        pair.server->write("x");
        pair.settle();
      }
      TlsPair pair(to, client);
      EXPECT_EQ(pair.server->readied, trial.expected);
      EXPECT_EQ(to.count(SslCounter::SessionReused), trial.resumed);
    }
  }
}

TEST("A session of one filter chain is not good in another, which is for other server names") {
  plan::TlsContext plan = serverPlan({authority().sign("server")});
  plan.server->ticket_keys = {std::string(80, 'k')};
  const TlsSide first(plan, 0, {1, {"one.test"}});
  const TlsSide same(plan, 0, {1, {"one.test"}});
  const TlsSide other(plan, 0, {1, {"two.test"}});
  for (const TlsSide* second : {&same, &other}) {
    const TlsSide client(clientPlan());
    for (const TlsSide* server : {&first, second}) {
      TlsPair pair(*server, client);
      pair.server->write("x");
      pair.settle();
    }
  }
  EXPECT_EQ(same.count(SslCounter::SessionReused), 1u);
  EXPECT_EQ(other.count(SslCounter::SessionReused), 0u);
}

TEST("A session with a host is not good where its certificate must be for another name") {
  const TlsSide server(serverPlan({authority().sign("server", "DNS:a.test")}));
  const TlsSide client(clientPlan(authority().pem()));
  const auto readied = [&](std::string_view wanted_name) {
    TlsPair pair(server, client, {}, wanted_name);
    pair.server->write("x");
    pair.settle();
    return pair.client->readied;
  };
  EXPECT_EQ(readied(""), 0);
  EXPECT_EQ(readied("b.test"), EPROTO);
  EXPECT_EQ(readied("a.test"), 0);
  EXPECT_EQ(readied("b.test"), EPROTO);
  EXPECT_EQ(readied("a.test"), 0);
  EXPECT_EQ(client.count(SslCounter::FailVerifySan), 2u);
  EXPECT_EQ(client.count(SslCounter::SessionReused), 1u);
}

}  // namespace fairlead::tls
