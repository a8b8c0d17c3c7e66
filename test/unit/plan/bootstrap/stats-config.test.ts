import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { envoy_config_metrics_v3_StatsConfig as StatsConfig } from '../../../../build/messages.gen.js';
import type { Issue } from '../../../../src/config/issues/issue.js';
import { Place } from '../../../../src/plan/message/place.js';
import {
  StatsSettings_Selection as Selection,
  StringMatch_Kind,
  TagRule_Kind,
  type StatsSettings,
} from '../../../../src/plan/plan.gen.js';
import { DEFAULT_TAGS } from '../../../../src/plan/bootstrap/default-tags.js';
import { compileStatsConfig } from '../../../../src/plan/bootstrap/stats-config.js';

function compile(config: StatsConfig): { settings: StatsSettings; problems: string[] } {
  const issues: Issue[] = [];
  const settings = compileStatsConfig(config, [], Place.root(issues).field('stats_config'));
  return { settings, problems: issues.map(({ path, message }) => `${path}: ${message}`) };
}

function ruleNames(config: StatsConfig): (string | undefined)[] {
  return compile(config).settings.tag_rules?.rules?.map(({ name }) => name) ?? [];
}

test('fixed tags with names of their own need no rules', () => {
  const { settings } = compile({ stats_tags: [{ tag_name: 'a', fixed_value: 'b' }] });

  assert.equal(settings.tag_rules, undefined);
  assert.deepEqual(settings.fixed_tags, [{ name: 'a', value: 'b' }]);
});

test('a tag of a regular expression comes after the default ones', () => {
  const names = ruleNames({ stats_tags: [{ tag_name: 'kind', regex: '(x)' }] });

  assert.equal(names.length, DEFAULT_TAGS.length + 1);
  assert.equal(names.at(-1), 'kind');
});

test('a fixed tag named as another one, or as a default one, is a rule in its turn', () => {
  const twice = [
    { tag_name: 'a', fixed_value: 'b' },
    { tag_name: 'a', fixed_value: 'c' },
  ];
  assert.equal(ruleNames({ stats_tags: twice }).length, DEFAULT_TAGS.length + 2);
  const cluster = { tag_name: 'envoy.cluster_name', fixed_value: 'z' };
  assert.equal(ruleNames({ stats_tags: [cluster] }).length, DEFAULT_TAGS.length + 1);
});

test('without default tags only those that are named are taken', () => {
  assert.deepEqual(ruleNames({ use_all_default_tags: false }), []);
  assert.notEqual(compile({ use_all_default_tags: false }).settings.tag_rules, undefined);
  assert.deepEqual(
    ruleNames({ use_all_default_tags: false, stats_tags: [{ tag_name: 'envoy.cluster_name' }] }),
    ['envoy.cluster_name'],
  );
});

test('a default tag goes where another of its name may take its place', () => {
  const names = ruleNames({
    allow_default_tag_overrides: true,
    stats_tags: [{ tag_name: 'envoy.cluster_name', regex: '(b)' }],
  });
  assert.equal(names.filter((name) => name === 'envoy.cluster_name').length, 1);
});

test('a rule is asked only for names that begin as its pattern does', () => {
  const tokenOf = (regex: string) =>
    compile({ use_all_default_tags: false, stats_tags: [{ tag_name: 'a', regex }] }).settings
      .tag_rules?.rules?.[0]?.first_token;

  assert.equal(tokenOf('^cluster\\.((b)\\.)'), 'cluster');
  assert.equal(tokenOf('^cluster.((b)\\.)'), '');
  assert.equal(tokenOf('cluster\\.(b)'), '');
  assert.equal(tokenOf('^(?:cluster|http)\\.(b)'), '');
});

test('a tag may look ahead, as those of Istio do; backreferences are refused', () => {
  const stats_tags = [
    '^listener(?=\\.).*?\\.http\\.(((?:[_.[:digit:]]*|[_\\[\\]aAbBcCdDeEfF[:digit:]]*))\\.)',
    '^http\\.(?!admin)((\\w+)\\.)',
  ].map((regex) => ({ tag_name: 'a', regex }));
  const { settings, problems } = compile({ use_all_default_tags: false, stats_tags });
  assert.deepEqual(problems, []);
  const rules = settings.tag_rules?.rules ?? [];
  assert.deepEqual(
    rules.map(({ first_token: token }) => token),
    ['listener', 'http'],
  );
  const twice = compile({ stats_tags: [{ tag_name: 'a', regex: '(a)\\1' }] }).problems;
  assert.match(
    twice[0] ?? '',
    /stats_tags\[0\]\.regex: Invalid regex '\(a\)\\1': invalid escape sequence: \\1/,
  );
});

test('what cannot be a tag is said', () => {
  const { problems } = compile({
    stats_tags: [
      { tag_name: 'envoy.cluster_nam' },
      { tag_name: '', regex: '(a)' },
      { tag_name: 'x', regex: '(a' },
    ],
  });
  assert.equal(problems.length, 3, problems.join('\n'));
  assert.match(problems[0] ?? '', /stats_tags\[0\]: No regex specified .* 'envoy.cluster_nam'/);
  assert.match(problems[1] ?? '', /stats_tags\[1\]\.tag_name: tag_name cannot be empty/);
  assert.match(problems[2] ?? '', /stats_tags\[2\]\.regex: Invalid regex '\(a'/);
});

test('statistics are all kept, none, those that are listed, or the others', () => {
  const of = (stats_matcher?: NonNullable<StatsConfig['stats_matcher']>) =>
    compile(stats_matcher ? { stats_matcher } : {}).settings;
  const patterns = [{ prefix: 'cluster.' }];

  assert.equal(of().selection, undefined);
  assert.equal(of({ reject_all: true }).selection, Selection.NONE);
  assert.equal(of({ reject_all: false }).selection, Selection.ALL);
  assert.equal(of({ inclusion_list: { patterns } }).selection, Selection.LISTED);
  const others = of({ exclusion_list: { patterns } });
  assert.equal(others.selection, Selection.NOT_LISTED);
  assert.equal(others.listed?.[0]?.kind, StringMatch_Kind.PREFIX);
});

test('bounds of buckets are put in order; without any the default ones stay', () => {
  const { settings } = compile({
    histogram_bucket_settings: [
      { match: { prefix: 'a' }, buckets: [5, 0.5] },
      { match: { prefix: 'b' }, bins: 10 },
    ],
  });
  assert.equal(settings.bucket_rules?.length, 1);
  const bounds = settings.bucket_rules?.[0]?.bounds ?? new Uint8Array();
  assert.deepEqual([...new Float64Array(bounds.slice().buffer)], [0.5, 5]);
});

test('every default tag has a pattern that compiles', () => {
  const { settings } = compile({
    use_all_default_tags: false,
    stats_tags: DEFAULT_TAGS.map(({ name }) => ({ tag_name: name })),
  });
  assert.ok((settings.tag_rules?.rules?.length ?? 0) >= DEFAULT_TAGS.length);
  for (const rule of settings.tag_rules?.rules ?? []) {
    assert.ok(rule.kind === TagRule_Kind.TOKENS || rule.regex?.program, rule.name);
  }
});
