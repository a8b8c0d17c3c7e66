// Regular expressions as routes, rewrites and statistics' filters use them.
#include "base/regex.h"

#include <string>

#include "bench/micro/micro.h"
#include "test/native/base/regex_assembler.h"

namespace fairlead {

namespace {

using test::Assembler;

// /api/v[0-9]+/users/([^/]+)
Regex routePath() {
  Assembler assembler;
  assembler.text("/api/v");
  const uint32_t digit = assembler.bytes('0', '9', assembler.next() + 1);
  assembler.fork(digit, assembler.next() + 1);
  assembler.text("/users/");
  assembler.capture(2, assembler.next() + 1);
  const uint32_t name = assembler.bytesBut('/', assembler.next() + 1);
  assembler.fork(name, assembler.next() + 1);
  assembler.capture(3, assembler.next() + 1);
  assembler.match();
  return Regex::load(assembler.program(0, 4)).value();
}

// upstream_rq_[2-5]xx
Regex statName() {
  Assembler assembler;
  assembler.text("upstream_rq_");
  assembler.bytes('2', '5', assembler.next() + 1);
  assembler.text("xx");
  assembler.match();
  return Regex::load(assembler.program(0)).value();
}

// (?:a|b)*a(?:a|b){16}
Regex manyStates() {
  Assembler assembler;
  assembler.fork(1, 2);
  assembler.bytes('a', 'b', 0);
  assembler.text("a");
  for (int i = 0; i < 16; ++i) assembler.bytes('a', 'b', assembler.next() + 1);
  assembler.match();
  return Regex::load(assembler.program(0)).value();
}

constexpr std::string_view kPath = "/api/v12/users/0123456789-abcdef-fedcba";
constexpr std::string_view kOtherPath = "/static/js/app.7f3a9c.js";
constexpr std::string_view kStat =
    "cluster.service_backend_production.upstream_rq_pending_overflow";

MICRO("regex: whole match of a path") {
  const Regex regex = routePath();
  state.setBytes(kPath.size());
  for (auto _ : state) micro::keep(regex.fullMatch(kPath));
}

MICRO("regex: whole match that fails at once") {
  const Regex regex = routePath();
  for (auto _ : state) micro::keep(regex.fullMatch(kOtherPath));
}

MICRO("regex: search in a statistic's name") {
  const Regex regex = statName();
  state.setBytes(kStat.size());
  for (auto _ : state) micro::keep(regex.search(kStat));
}

MICRO("regex: rewrite of a path with a group") {
  const Regex regex = routePath();
  std::string out;
  state.setBytes(kPath.size());
  for (auto _ : state) {
    out.clear();
    regex.replaceAll(kPath, "/u/\\1", &out);
    micro::keep(out.data());
  }
}

MICRO("regex: more states than are kept, 4 KiB") {
  const Regex regex = manyStates();
  std::string text;
  uint32_t random = 1;
  for (size_t i = 0; i < 4096; ++i) {
    random = random * 1664525 + 1013904223;
    text.push_back((random >> 24) % 2 == 0 ? 'a' : 'b');
  }
  state.setBytes(text.size());
  for (auto _ : state) micro::keep(regex.fullMatch(text));
}

}  // namespace

}  // namespace fairlead
