// What hosts report of their load, and the weights that follow.
#include "upstream/load_report.h"

#include "base/base64.h"
#include "test/native/test.h"
#include "upstream/host_load.h"

namespace fairlead::upstream {

namespace {

std::optional<LoadReport> reportOf(std::string_view name, std::string_view value) {
  http::HeaderMap headers;
  headers.add(http::HeaderId::Other, name, value);
  return readLoadReport(headers);
}

std::optional<LoadReport> reportOf(std::string_view value) {
  return reportOf("endpoint-load-metrics", value);
}

// rps_fractional 100, application_utilization 0.25, in protobuf.
constexpr std::string_view kBytes(
    "\x31\x00\x00\x00\x00\x00\x00\x59\x40\x49\x00\x00\x00\x00\x00\x00"
    "\xd0\x3f",
    18);
constexpr std::string_view kBase64 = "MQAAAAAAAFlASQAAAAAAANA/";

}  // namespace

TEST("A report comes as text, JSON or base64, with either header") {
  const auto text = reportOf("TEXT rps_fractional:100, cpu_utilization:0.5,named_metrics.queue:7");
  EXPECT(text.has_value());
  EXPECT_EQ(text->rps_fractional, 100.0);
  EXPECT_EQ(text->cpu_utilization, 0.5);
  EXPECT_EQ(text->find("named_metrics.queue").value_or(0), 7.0);
  const auto equal = reportOf("TEXT rps_fractional= 100, utilization.a=0.5");
  EXPECT(equal.has_value());
  EXPECT_EQ(equal->rps_fractional, 100.0);
  EXPECT_EQ(equal->find("utilization.a").value_or(0), 0.5);
  const auto json = reportOf(
      "JSON {\"rpsFractional\":\"100\",\"mem_utilization\":0.5,\"utilization\":{\"a\":1}}");
  EXPECT(json.has_value());
  EXPECT_EQ(json->rps_fractional, 100.0);
  EXPECT_EQ(json->find("utilization.a").value_or(0), 1.0);
  std::string bytes;
  EXPECT(decodeBase64(kBase64, &bytes));
  EXPECT(bytes == kBytes);
  for (const auto& binary :
       {reportOf("BIN " + std::string(kBase64)), reportOf("endpoint-load-metrics-bin", kBase64)}) {
    EXPECT(binary.has_value());
    EXPECT_EQ(binary->rps_fractional, 100.0);
    EXPECT_EQ(binary->application_utilization, 0.25);
  }
}

TEST("What makes no sense is no report") {
  for (const char* value : {"",
                            "TEXT",
                            "rps_fractional:100",
                            "TEXT rps_fractional:100,more:1",
                            "TEXT eps:x",
                            "TEXT eps:1,eps:2",
                            "TEXT eps :1",
                            "TEXT eps:=1",
                            "TEXT eps:-1",
                            "TEXT named_metrics.a:-1",
                            "TEXT request_cost.a:1",
                            "TEXT utilization.=1",
                            "TEXT eps:nan",
                            "TEXT eps:inf",
                            "TEXT named_metrics.:1",
                            "TEXT eps",
                            "JSON {",
                            "JSON []",
                            "JSON {\"eps\":[]}",
                            "JSON {\"other\":1}",
                            "BIN ",
                            "BIN !!!!",
                            "BIN MQAA"}) {
    EXPECT(!reportOf(value).has_value());
  }
}

TEST("A weight is requests by load, errors count as load, and names go before the whole") {
  plan::LoadWeights rules;
  LoadReport report;
  report.rps_fractional = 100;
  report.cpu_utilization = 0.5;
  EXPECT_EQ(weightOf(report, rules).value_or(0), 200u);
  report.application_utilization = 0.25;
  EXPECT_EQ(weightOf(report, rules).value_or(0), 400u);
  report.named_metrics.emplace_back("queue", 1.0);
  rules.metrics = {"named_metrics.queue"};
  EXPECT_EQ(weightOf(report, rules).value_or(0), 100u);
  report.eps = 10;
  rules.error_penalty_millionths = 10'000'000;
  EXPECT_EQ(weightOf(report, rules).value_or(0), 50u);
  report.rps_fractional = 0;
  EXPECT(!weightOf(report, rules).has_value());
}

TEST("A weight counts after the blackout, and until it is too old; then it begins anew") {
  plan::LoadWeights rules;
  rules.blackout_ms = 100;
  rules.expiration_ms = 1000;
  HostLoad load({.weights = true}, 1);
  EXPECT(!load.reported(rules, 5000).has_value());
  load.put(7, 5000);
  EXPECT(!load.reported(rules, 5099).has_value());
  EXPECT_EQ(load.reported(rules, 5100).value_or(0), 7u);
  EXPECT_EQ(load.reported(rules, 6000).value_or(0), 7u);
  EXPECT(!load.reported(rules, 6001).has_value());
  load.put(8, 6100);
  EXPECT(!load.reported(rules, 6150).has_value());
  EXPECT_EQ(load.reported(rules, 6200).value_or(0), 8u);
}

TEST(
    "How busy a host is counts until it is too old, and a report that does not say changes "
    "nothing") {
  plan::Cluster cluster;
  cluster.locality_loads.emplace().metrics = {"named_metrics.queue"};
  HostLoad load(HostLoad::Uses::of(cluster), 1);
  EXPECT(!load.utilization(100, 5000).has_value());
  LoadReport report;
  report.cpu_utilization = 0.25;
  EXPECT(load.take(report, cluster, 5000));
  EXPECT_EQ(load.utilization(100, 5100).value_or(0), 0.25);
  EXPECT(load.take(LoadReport(), cluster, 5090));
  EXPECT(!load.utilization(100, 5101).has_value());
  EXPECT_EQ(load.utilization(0, 9000).value_or(0), 0.25);
  report.named_metrics.emplace_back("queue", 7);
  load.take(report, cluster, 9000);
  EXPECT_EQ(load.utilization(100, 9000).value_or(0), 1.0);
}

TEST("Metrics add up over threads until they are taken") {
  const std::vector<std::string> names = {"eps", "named_metrics.*", "utilization.other"};
  HostLoad load({.metrics = true}, 2);
  LoadReport report;
  report.eps = 2;
  report.named_metrics.emplace_back("a", 1);
  report.utilization.emplace_back("mine", 1);
  load.record(0, report, names);
  report.named_metrics.emplace_back("b", 3);
  load.record(1, report, names);
  const HostLoad::Sums sums = load.takeRecords();
  EXPECT_EQ(sums.size(), 3u);
  EXPECT_EQ(sums.at("eps").total, 4.0);
  EXPECT_EQ(sums.at("named_metrics.a").reports, 2u);
  EXPECT_EQ(sums.at("named_metrics.b").total, 3.0);
  EXPECT(load.takeRecords().empty());
}

}  // namespace fairlead::upstream
