// How lines read was taken from the real server's pages (release 1.40) after the same numbers.
#include "test/native/stats/pages.h"

#include <string>

#include "stats/pace.h"
#include "test/native/test.h"

namespace fairlead::stats {

TEST("text: texts first, then counters and gauges in one order, then histograms") {
  PagesFixture of;
  Query query = matching("");
  query.filter = [](std::string_view name) {
    return name.find("version") != name.npos || name.find("upstream_rq_2") != name.npos ||
           name.find("upstream_rq_ti") != name.npos || name.find("upstream_rq_to") != name.npos ||
           name.find("rq_per_cx") != name.npos;
  };
  EXPECT_EQ(whole(openText, of.registry, query),
            "listener_manager.lds.version_text: \"a<b>\"&'\n\\\"\n"
            "cluster.be.external.upstream_rq_200: 1\n"
            "cluster.be.external.upstream_rq_2xx: 1\n"
            "cluster.be.upstream_rq_200: 1\n"
            "cluster.be.upstream_rq_2xx: 1\n"
            "cluster.be.upstream_rq_timeout: 0\n"
            "cluster.be.upstream_rq_total: 2\n"
            "cluster.be.version: 0\n"
            "cluster.be.x.upstream_rq_timeout: 0\n"
            "cluster.be.x.upstream_rq_total: 0\n"
            "cluster.be.x.version: 0\n"
            "listener_manager.lds.version: 0\n"
            "cluster.be.upstream_rq_per_cx: No recorded values\n"
            "cluster.be.upstream_rq_time: P0(105,0) P25(105,0) P50(105,41.5) P75(105,105) "
            "P90(105,105) P95(105,105) P99(105,105) P99.5(105,105) P99.9(105,105) "
            "P100(105,105)\n"
            "cluster.be.x.upstream_rq_per_cx: No recorded values\n");
}

TEST("text: buckets are cumulative, disjoint, or the bins themselves") {
  PagesFixture of;
  const Query query = matching("upstream_rq_time");
  const std::string head = "cluster.be.upstream_rq_time:";
  // Without the counter upstream_rq_timeout.
  const auto histogram = [&](Buckets buckets) {
    Query only = as(query, buckets);
    only.counters = false;
    return whole(openText, of.registry, only);
  };
  EXPECT_EQ(histogram(Buckets::Cumulative),
            head +
                " B0.5(0,1) B1(0,1) B5(0,1) B10(0,1) B25(0,1) B50(0,2) B100(1,3) B250(1,3) "
                "B500(1,3) B1000(1,3) B2500(1,3) B5000(1,3) B10000(1,3) B30000(1,3) B60000(1,3) "
                "B300000(1,3) B600000(1,3) B1.8e+06(1,3) B3.6e+06(1,3)\n");
  EXPECT_EQ(histogram(Buckets::Disjoint),
            head +
                " B0.5(0,1) B1(0,0) B5(0,0) B10(0,0) B25(0,0) B50(0,1) B100(1,1) B250(0,0) "
                "B500(0,0) B1000(0,0) B2500(0,0) B5000(0,0) B10000(0,0) B30000(0,0) B60000(0,0) "
                "B300000(0,0) B600000(0,0) B1.8e+06(0,0) B3.6e+06(0,0)\n");
  EXPECT_EQ(histogram(Buckets::Detailed),
            head +
                "\n  totals=0,0:1, 41,1:1, 100,10:1\n  intervals=100,10:1\n  summary=P0(105,0) "
                "P25(105,0) P50(105,41.5) P75(105,105) P90(105,105) P95(105,105) P99(105,105) "
                "P99.5(105,105) P99.9(105,105) P100(105,105)\n");
}

TEST("scopes whose names cannot fit are not looked at") {
  PagesFixture of;
  Query query = matching("upstream_rq_time");
  query.counters = query.gauges = query.texts = false;
  query.may_begin = [](std::string_view beginning) {
    return std::string_view("cluster.be.upstream_rq_time").starts_with(beginning);
  };
  const std::string page = whole(openText, of.registry, query);
  EXPECT(page.starts_with("cluster.be.upstream_rq_time: "));
  EXPECT(page.find("cluster.be.x.") == std::string::npos);
}

TEST("text: an interval without values is nan; bounds come from the rule that matches") {
  PagesFixture of;
  of.registry.flushHistograms();
  of.registry.setBucketRules(
      {{[](std::string_view name) { return name == "cluster.be.upstream_rq_time"; },
        {0.3, 50.5, 1'000'000}}});
  Query query = matching("be.upstream_rq_time");
  query.counters = false;
  EXPECT(whole(openText, of.registry, query)
             .starts_with("cluster.be.upstream_rq_time: P0(nan,0) P25(nan,0) P50(nan,41.5) "));
  EXPECT_EQ(whole(openText, of.registry, as(query, Buckets::Cumulative)),
            "cluster.be.upstream_rq_time: B0.3(0,1) B50.5(0,2) B1e+06(0,3)\n");
}

TEST("only what was used: written at least once, whatever it reads now; histograms once flushed") {
  PagesFixture of;
  of.be_x->shard(0)->set(Cluster::Gauge::MembershipTotal, 0);
  of.be_x->shard(1)->record(Cluster::Histogram::UpstreamCxLengthMs, 1);
  const CodeName shown = CodeName::family(CodeVariant::Retry, 5);
  of.be_x->showCodes({&shown, 1});
  of.registry.resetCounters();
  Query query;
  query.used_only = true;
  query.histograms = false;
  EXPECT_EQ(whole(openText, of.registry, query),
            "listener_manager.lds.version_text: \"a<b>\"&'\n\\\"\n"
            "cluster.be.external.upstream_rq_200: 0\n"
            "cluster.be.external.upstream_rq_2xx: 0\n"
            "cluster.be.external.upstream_rq_completed: 0\n"
            "cluster.be.upstream_rq_200: 0\n"
            "cluster.be.upstream_rq_2xx: 0\n"
            "cluster.be.upstream_rq_503: 0\n"
            "cluster.be.upstream_rq_5xx: 0\n"
            "cluster.be.upstream_rq_total: 0\n"
            "cluster.be.x.membership_total: 0\n");
  query.counters = query.gauges = query.texts = false;
  query.histograms = true;
  EXPECT(whole(openText, of.registry, query).starts_with("cluster.be.upstream_rq_time: P0("));
  EXPECT(whole(openText, of.registry, query).find("cx_length") == std::string::npos);
  EXPECT(whole(openText, of.registry).find("be.x.retry.upstream_rq_5xx: 0\n") != std::string::npos);
  query.counters = true;
  EXPECT(whole(openPrometheus, of.registry, query).find("retry") == std::string::npos);
}

TEST("a lazy name waits for its first value; HTTP/1 counters for the first such connection") {
  PagesFixture of;
  const auto shows = [&](const char* name) {
    return whole(openText, of.registry, matching(name)) != "";
  };
  EXPECT(!shows("cluster.be.http1.response_flood"));
  EXPECT(!shows("remaining_cx"));
  EXPECT(!shows("canary.upstream_rq_time"));
  of.be->shard(1)->add(Cluster::Counter::UpstreamCxHttp1Total);
  of.be->shard(0)->set(Cluster::Gauge::CircuitBreakersDefaultRemainingCx, 1024);
  of.be->shard(1)->record(Cluster::Histogram::CanaryUpstreamRqTime, 1);
  EXPECT_EQ(whole(openText, of.registry, matching("http1.response_flood")),
            "cluster.be.http1.response_flood: 0\n");
  EXPECT_EQ(whole(openText, of.registry, matching("remaining_cx")),
            "cluster.be.circuit_breakers.default.remaining_cx: 1024\n");
  // It is there at once, though no flush has shown it a value.
  EXPECT_EQ(whole(openText, of.registry, matching("canary.upstream_rq_time")),
            "cluster.be.canary.upstream_rq_time: No recorded values\n");
}

TEST("a filter may be inverted; hidden statistics there are none") {
  PagesFixture of;
  Query query = matching("cluster.");
  query.invert_filter = true;
  query.counters = query.texts = query.histograms = false;
  EXPECT_EQ(whole(openText, of.registry, query),
            "listener_manager.lds.update_time: 0\nlistener_manager.lds.version: 0\n");
  Query hidden;
  hidden.hidden_only = true;
  EXPECT_EQ(whole(openText, of.registry, hidden), "");
  EXPECT_EQ(whole(openJson, of.registry, hidden), "{\"stats\":[]}");
  EXPECT_EQ(whole(openPrometheus, of.registry, hidden), "");
}

TEST("JSON: one array, the histograms together as its last element") {
  PagesFixture of;
  Query query;
  query.filter = [](std::string_view name) {
    return name.find("version_text") != name.npos || name == "cluster.be.upstream_rq_200" ||
           name == "cluster.be.upstream_rq_time" || name == "cluster.be.upstream_rq_per_cx";
  };
  const std::string head =
      "{\"stats\":[{\"name\":\"listener_manager.lds.version_text\","
      "\"value\":\"a<b>\\\"&'\\n\\\\\"},{\"name\":\"cluster.be.upstream_rq_200\",\"value\":1},";
  const auto values = [](const char* cumulative, const char* interval) {
    return std::string("{\"cumulative\":") + cumulative + ",\"interval\":" + interval + "}";
  };
  std::string nulls = values("null", "null");
  for (int i = 1; i < 10; ++i) nulls += "," + values("null", "null");
  std::string some = values("0", "105") + "," + values("0", "105") + "," + values("41.5", "105");
  for (int i = 3; i < 10; ++i) some += "," + values("105", "105");
  EXPECT_EQ(whole(openJson, of.registry, query),
            head +
                "{\"histograms\":{\"supported_quantiles\":[0,25,50,75,90,95,99,99.5,99.9,100],"
                "\"computed_quantiles\":[{\"name\":\"cluster.be.upstream_rq_per_cx\",\"values\":[" +
                nulls + "]},{\"name\":\"cluster.be.upstream_rq_time\",\"values\":[" + some +
                "]}]}}]}");
  EXPECT_EQ(whole(openJson, of.registry, as(query, Buckets::Detailed)),
            head +
                "{\"histograms\":{\"supported_percentiles\":[0,25,50,75,90,95,99,99.5,99.9,100],"
                "\"details\":[{\"name\":\"cluster.be.upstream_rq_per_cx\",\"totals\":[],"
                "\"intervals\":[],\"percentiles\":[" +
                nulls +
                "]},{\"name\":\"cluster.be.upstream_rq_time\",\"totals\":[{\"lower_bound\":0,"
                "\"width\":0,\"count\":1},{\"lower_bound\":41,\"width\":1,\"count\":1},"
                "{\"lower_bound\":100,\"width\":10,\"count\":1}],\"intervals\":["
                "{\"lower_bound\":100,\"width\":10,\"count\":1}],\"percentiles\":[" +
                some + "]}]}}]}");
}

TEST("JSON: bounds take the shortest form") {
  PagesFixture of;
  of.registry.setBucketRules(
      {{[](std::string_view) { return true; }, {0.5, 60'000, 300'000, 1'000'000, 1'800'000}}});
  Query query = matching("be.upstream_rq_time");
  query.counters = false;
  EXPECT_EQ(whole(openJson, of.registry, as(query, Buckets::Disjoint)),
            "{\"stats\":[{\"histograms\":[{\"name\":\"cluster.be.upstream_rq_time\",\"buckets\":["
            "{\"upper_bound\":0.5,\"interval\":0,\"cumulative\":1},"
            "{\"upper_bound\":60000,\"interval\":1,\"cumulative\":2},"
            "{\"upper_bound\":3e+05,\"interval\":0,\"cumulative\":0},"
            "{\"upper_bound\":1e+06,\"interval\":0,\"cumulative\":0},"
            "{\"upper_bound\":1800000,\"interval\":0,\"cumulative\":0}]}]}]}");
}

TEST("a long answer comes in pieces that end soon after 64 KiB, also when nothing matches") {
  Registry registry(1);
  std::vector<std::shared_ptr<BlockBase>> clusters;
  for (int i = 0; i < 2000; ++i) {
    clusters.push_back(registry.create<Cluster>(clusterScope("c" + std::to_string(i))));
  }
  for (const Open open : {openText, openJson, openPrometheus}) {
    const std::unique_ptr<Page> page = open(registry, {});
    size_t pieces = 0;
    for (bool more = true; more; ++pieces) {
      std::string piece;
      more = page->next(&piece);
      EXPECT(piece.size() < Page::kPieceBytes + 4096);
    }
    EXPECT(pieces > 100);

    const std::unique_ptr<Page> nothing = open(registry, matching("no such name"));
    std::string text;
    size_t turns = 1;
    while (nothing->next(&text)) ++turns;
    // Of each cluster more than fifty names are looked at.
    EXPECT(turns > 2000 * 50 / Pace::kPieceNames);
    EXPECT_EQ(text, std::string(open == openJson ? "{\"stats\":[]}" : ""));
  }
}

TEST("Single hosts come behind all others, used or not, and are no part of what is reset") {
  PagesFixture of;
  const auto host = std::make_shared<Block<Endpoint>>(endpointScope("be.x", "10.0.0.1:80", "h"), 1);
  host->setHolders(host);
  host->shard(0)->add(Endpoint::Counter::RqTotal, 2);
  host->shard(0)->set(Endpoint::Gauge::Healthy, 1);
  of.registry.setEndpoints({host});
  Query used = matching("endpoint");
  used.used_only = true;
  const std::string text = whole(openText, of.registry, used);
  EXPECT(text.starts_with("cluster.be.x.endpoint.10.0.0.1_80.cx_connect_fail: 0\n"));
  EXPECT(text.ends_with("rq_pending_active: 0\ncluster.be.x.endpoint.10.0.0.1_80.healthy: 1\n"));
  const std::string all = whole(openText, of.registry);
  EXPECT(all.find("endpoint") > all.find("cluster.be.x.upstream_rq_total"));
  EXPECT(all.find("endpoint") < all.find("upstream_rq_time: "));
  const std::string metrics = whole(openPrometheus, of.registry, matching("endpoint"));
  EXPECT(
      metrics.find("envoy_cluster_endpoint_rq_total{envoy_cluster_name=\"be.x\","
                   "envoy_endpoint_address=\"10.0.0.1:80\",envoy_endpoint_hostname=\"h\"} 2\n") !=
      std::string::npos);
  of.registry.resetCounters();
  EXPECT_EQ(of.registry.value("cluster.be.x.endpoint.10.0.0.1_80.rq_total").value_or(0), 2u);
}

}  // namespace fairlead::stats
