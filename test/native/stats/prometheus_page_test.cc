// How lines read was taken from the real server's pages (release 1.40) after the same numbers.
#include <string>

#include "test/native/stats/pages.h"
#include "test/native/test.h"

namespace fairlead::stats {

TEST("Prometheus: metrics by dotted name; labels: the code, fixed ones, then the scope's") {
  PagesFixture of;
  Query query;
  of.registry.setFixedLabels({{"fi-xed", "a\"b\\c"}});
  query.text_readouts = true;
  query.filter = [](std::string_view name) {
    return name.find("upstream_rq_2") != name.npos || name.find("upstream_rq_5") != name.npos ||
           name.find("upstream_rq_total") != name.npos || name.find("version") != name.npos;
  };
  const std::string be = "fi_xed=\"a\\\"b\\\\c\",envoy_cluster_name=\"be\"";
  EXPECT_EQ(whole(openPrometheus, of.registry, query),
            "# TYPE envoy_cluster_external_upstream_rq counter\n"
            "envoy_cluster_external_upstream_rq{envoy_response_code=\"200\"," +
                be +
                "} 1\n"
                "# TYPE envoy_cluster_external_upstream_rq_xx counter\n"
                "envoy_cluster_external_upstream_rq_xx{envoy_response_code_class=\"2\"," +
                be +
                "} 1\n"
                "# TYPE envoy_cluster_upstream_rq counter\n"
                "envoy_cluster_upstream_rq{envoy_response_code=\"200\"," +
                be +
                "} 1\n"
                "envoy_cluster_upstream_rq{envoy_response_code=\"503\"," +
                be +
                "} 1\n"
                "# TYPE envoy_cluster_upstream_rq_total counter\n"
                "envoy_cluster_upstream_rq_total{" +
                be +
                "} 2\n"
                "# TYPE envoy_cluster_upstream_rq_xx counter\n"
                "envoy_cluster_upstream_rq_xx{envoy_response_code_class=\"2\"," +
                be +
                "} 1\n"
                "envoy_cluster_upstream_rq_xx{envoy_response_code_class=\"5\"," +
                be +
                "} 1\n"
                "# TYPE envoy_cluster_x_upstream_rq_total counter\n"
                "envoy_cluster_x_upstream_rq_total{" +
                be +
                "} 0\n"
                "# TYPE envoy_cluster_version gauge\n"
                "envoy_cluster_version{" +
                be +
                "} 0\n"
                "# TYPE envoy_cluster_x_version gauge\n"
                "envoy_cluster_x_version{" +
                be +
                "} 0\n"
                "# TYPE envoy_listener_manager_lds_version gauge\n"
                "envoy_listener_manager_lds_version{fi_xed=\"a\\\"b\\\\c\"} 0\n"
                "# TYPE envoy_listener_manager_lds_version_text gauge\n"
                "envoy_listener_manager_lds_version_text{fi_xed=\"a\\\"b\\\\c\","
                "text_value=\"a<b>\\\"&'\\n\\\\\"} 0\n");
}

TEST("Prometheus: series of one metric come together from every scope, by their full names") {
  Registry registry(2);
  const auto admin = registry.create<HttpAdmin>(httpScope("admin"));
  const auto in = registry.create<Http>(httpScope("in"));
  const auto client = registry.create<AsyncClient>(httpScope("async-client"));
  in->shard(2)->add(Http::Counter::DownstreamRq2xx, 7);
  Query query = matching("downstream_rq_2xx");
  EXPECT_EQ(whole(openPrometheus, registry, query),
            "# TYPE envoy_http_downstream_rq_xx counter\n"
            "envoy_http_downstream_rq_xx{envoy_response_code_class=\"2\","
            "envoy_http_conn_manager_prefix=\"admin\"} 0\n"
            "envoy_http_downstream_rq_xx{envoy_response_code_class=\"2\","
            "envoy_http_conn_manager_prefix=\"in\"} 7\n");
  EXPECT_EQ(whole(openPrometheus, registry, matching("rq_total")),
            "# TYPE envoy_http_downstream_rq_total counter\n"
            "envoy_http_downstream_rq_total{envoy_http_conn_manager_prefix=\"admin\"} 0\n"
            "envoy_http_downstream_rq_total{envoy_http_conn_manager_prefix=\"in\"} 0\n"
            "# TYPE envoy_http_rq_total counter\n"
            "envoy_http_rq_total{envoy_http_conn_manager_prefix=\"async-client\"} 0\n"
            "envoy_http_rq_total{envoy_http_conn_manager_prefix=\"in\"} 0\n");
}

TEST("Prometheus: consecutive_5xx is no class of codes; no labels still have their braces") {
  Registry registry(1);
  const auto outlier =
      registry.create<OutlierDetection>(innerScope(clusterScope("be"), "outlier_detection."));
  const auto runtime = registry.create<Runtime>(plainScope("runtime."));
  EXPECT_EQ(whole(openPrometheus, registry, matching("ejections_consecutive_5xx")),
            "# TYPE envoy_cluster_outlier_detection_ejections_consecutive_5xx counter\n"
            "envoy_cluster_outlier_detection_ejections_consecutive_5xx{"
            "envoy_cluster_name=\"be\"} 0\n");
  EXPECT_EQ(whole(openPrometheus, registry, matching("num_keys")),
            "# TYPE envoy_runtime_num_keys gauge\nenvoy_runtime_num_keys{} 0\n");
}

TEST("Prometheus: buckets are of all time, summaries of the interval") {
  Registry registry(1);
  const auto cluster = registry.create<Cluster>(clusterScope("c1"));
  for (const uint64_t value : {0, 40, 42}) {
    cluster->shard(1)->record(Cluster::Histogram::CanaryUpstreamRqTime, value);
  }
  registry.flushHistograms();
  const Query query = matching("canary.upstream_rq_time");
  const std::string name = "envoy_cluster_canary_upstream_rq_time";
  const std::string label = "{envoy_cluster_name=\"c1\"";
  const std::string sum_and_count = name + "_sum" + label +
                                    "} 82.987944807552651127480203285813\n" +  //
                                    name + "_count" + label + "} 3\n";
  std::string buckets;
  for (const char* below : {"0.5", "1", "5", "10", "25"}) {
    buckets += name + "_bucket" + label + ",le=\"" + below + "\"} 1\n";
  }
  for (const char* below : {"50", "100", "250", "500", "1000", "2500", "5000", "10000", "30000",
                            "60000", "300000", "600000", "1800000", "3600000", "+Inf"}) {
    buckets += name + "_bucket" + label + ",le=\"" + below + "\"} 3\n";
  }
  EXPECT_EQ(whole(openPrometheus, registry, query),
            "# TYPE " + name + " histogram\n" + buckets + sum_and_count);

  std::string quantiles = name + label + ",quantile=\"0\"} 0\n" + name + label +
                          ",quantile=\"0.25\"} 0\n" + name + label + ",quantile=\"0.5\"} 40.5\n";
  for (const char* q : {"0.75", "0.9", "0.95", "0.99", "0.995", "0.999", "1"}) {
    quantiles += name + label + ",quantile=\"" + q + "\"} 42.5\n";
  }
  const Query summary = as(query, Buckets::Summary);
  EXPECT_EQ(whole(openPrometheus, registry, summary),
            "# TYPE " + name + " summary\n" + quantiles + sum_and_count);
  registry.flushHistograms();
  EXPECT(whole(openPrometheus, registry, summary)
             .ends_with(",quantile=\"1\"} nan\n" + name + "_sum" + label + "} 0\n" + name +
                        "_count" + label + "} 0\n"));
}

TEST("Prometheus: all kinds are shown whatever kinds are asked for") {
  PagesFixture of;
  Query query = matching("be.version");
  query.gauges = false;
  EXPECT_EQ(whole(openPrometheus, of.registry, query),
            "# TYPE envoy_cluster_version gauge\n"
            "envoy_cluster_version{envoy_cluster_name=\"be\"} 0\n");
}

TEST("Prometheus: what is older than the configuration has no fixed labels") {
  Registry registry(1);
  const auto filesystem = registry.create<Filesystem>(plainScope("filesystem."));
  const auto server = registry.create<Server>(plainScope("server."));
  server->shard(0)->set(Server::Gauge::HotRestartGeneration, 1);
  Query query;
  registry.setFixedLabels({{"a", "b"}});
  query.filter = [](std::string_view name) {
    return name.find("write_failed") != name.npos || name.find("server.hot") != name.npos;
  };
  EXPECT_EQ(whole(openPrometheus, registry, query),
            "# TYPE envoy_filesystem_write_failed counter\n"
            "envoy_filesystem_write_failed{} 0\n"
            "# TYPE envoy_server_hot_restart_epoch gauge\n"
            "envoy_server_hot_restart_epoch{a=\"b\"} 0\n"
            "# TYPE envoy_server_hot_restart_generation gauge\n"
            "envoy_server_hot_restart_generation{} 1\n");
}

TEST("Prometheus: bounds of a rule print with all their digits") {
  PagesFixture of;
  of.registry.setBucketRules({{[](std::string_view) { return true; }, {0.3, 50.5, 1'000'000}}});
  of.be->shard(1)->record(Cluster::Histogram::ExternalUpstreamRqTime, 50);
  of.registry.flushHistograms();
  const std::string name = "envoy_cluster_external_upstream_rq_time";
  EXPECT(whole(openPrometheus, of.registry, matching("external.upstream_rq_time"))
             .starts_with("# TYPE " + name + " histogram\n" + name +
                          "_bucket{envoy_cluster_name=\"be\","
                          "le=\"0.29999999999999998889776975374843\"} 0\n" +
                          name + "_bucket{envoy_cluster_name=\"be\",le=\"50.5\"} 1\n" + name +
                          "_bucket{envoy_cluster_name=\"be\",le=\"1000000\"} 1\n"));
}

}  // namespace fairlead::stats
