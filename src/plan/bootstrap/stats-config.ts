// The bootstrap's stats_config, and --stats-tag: what statistics are called, and which are kept.
import type {
  envoy_config_metrics_v3_HistogramBucketSettings as HistogramBucketSettings,
  envoy_config_metrics_v3_StatsConfig as StatsConfig,
  envoy_config_metrics_v3_TagSpecifier as TagSpecifier,
} from '../../../build/messages.gen.js';
import { nearestName } from '../../base/suggest.js';
import { compileStringMatcher } from '../match/matchers.js';
import type { Place } from '../message/place.js';
import {
  TagRule_Kind,
  type BucketRule,
  type FixedTag,
  type StatsSettings,
  type TagRule,
} from '../plan.gen.js';
import { compileEcmaScript, compileRegex } from '../match/regex/regex.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { compileSelection } from '../stats-choice.js';
import { DEFAULT_TAGS, type DefaultTag } from './default-tags.js';

const STATS_CONFIG = supportedFields<StatsConfig>('envoy.config.metrics.v3.StatsConfig', [
  'stats_tags',
  'use_all_default_tags',
  'stats_matcher',
  'histogram_bucket_settings',
  'allow_default_tag_overrides',
]);
const TAG = supportedFields<TagSpecifier>('envoy.config.metrics.v3.TagSpecifier', [
  'tag_name',
  'regex',
  'fixed_value',
]);
/** `bins` is how large the real server's histograms are made; ours grow by themselves. */
const BUCKETS = supportedFields<HistogramBucketSettings>(
  'envoy.config.metrics.v3.HistogramBucketSettings',
  ['match', 'buckets', 'bins'],
);
/** These expressions have no limit of size in the real server. */
/** As the real server's, but for what could take time without end. */
const SYNTAX = 'a regular expression as ECMAScript has them, without backreferences';
const UNLIMITED = { size: Number.MAX_SAFE_INTEGER, source: 'config' } as const;

/**
 * `cliTags`: of --stats-tag, which come before those of the bootstrap. `start`: where goes what only a
 * start looks at.
 */
export function compileStatsConfig(
  config: StatsConfig,
  cliTags: readonly (readonly [name: string, value: string])[],
  place: Place,
  start: Place = place,
): StatsSettings {
  refuseOtherFields(place, config, STATS_CONFIG);
  return {
    ...compileTags(config, cliTags, place.field('stats_tags')),
    ...compileSelection(config.stats_matcher, start.field('stats_matcher')),
    bucket_rules: compileBuckets(
      config.histogram_bucket_settings ?? [],
      place.field('histogram_bucket_settings'),
    ),
  };
}

// ---- tags ----

function compileTags(
  config: StatsConfig,
  cliTags: readonly (readonly [name: string, value: string])[],
  place: Place,
): Pick<StatsSettings, 'tag_rules' | 'fixed_tags'> {
  const own = (config.stats_tags ?? []).flatMap((tag, index) =>
    compileTag(tag, place.index(index)),
  );
  const fromCli = cliTags.map(([name, value]) => fixedRule(name, value));
  const added = [...fromCli, ...own];
  const usesDefaults = config.use_all_default_tags ?? true;
  if (usesDefaults && areIndependent(added)) {
    return { fixed_tags: added.map(({ name, value }): FixedTag => ({ name, value })) };
  }
  const overridden = new Set(
    config.allow_default_tag_overrides ? added.map(({ name }) => name) : [],
  );
  const defaults = usesDefaults
    ? DEFAULT_TAGS.filter(({ name }) => !overridden.has(name)).map(defaultRule)
    : [];
  return { tag_rules: { rules: [...defaults, ...added] } };
}

/** Fixed tags with names of their own: nothing else depends on them. */
function areIndependent(rules: readonly TagRule[]): boolean {
  const names = new Set([...rules, ...DEFAULT_TAGS].map(({ name }) => name));
  const known = new Set(DEFAULT_TAGS.map(({ name }) => name)).size;
  return (
    rules.every(({ kind }) => kind === TagRule_Kind.FIXED) && names.size === known + rules.length
  );
}

function compileTag(tag: TagSpecifier, place: Place): TagRule[] {
  refuseOtherFields(place, tag, TAG);
  const name = tag.tag_name ?? '';
  if (tag.fixed_value !== undefined) return [fixedRule(name, tag.fixed_value)];
  if (tag.regex) return regexRule(name, tag.regex, place) ?? [];
  const defaults = DEFAULT_TAGS.filter((known) => known.name === name);
  if (defaults.length === 0) {
    const names = DEFAULT_TAGS.map((known) => known.name);
    place.error(`No regex specified for tag specifier and no default regex for name: '${name}'`, {
      expected: 'regex, fixed_value, or the name of a default tag',
      suggestion: nearestName(name, names),
    });
  }
  return defaults.map(defaultRule);
}

function regexRule(name: string, regex: string, place: Place): TagRule[] | undefined {
  if (name === '') {
    place.field('tag_name').error('tag_name cannot be empty');
    return undefined;
  }
  const compiled = compileEcmaScript(regex);
  if ('error' in compiled) {
    place.field('regex').error(`Invalid regex '${regex}': ${compiled.error}`, {
      expected: compiled.isTooLarge ? undefined : SYNTAX,
    });
    return undefined;
  }
  return [
    {
      name,
      kind: TagRule_Kind.REGEX,
      regex: { pattern: regex, program: compiled.program },
      first_token: firstTokenOf(regex),
    },
  ];
}

const fixedRule = (name: string, value: string): TagRule => ({
  name,
  kind: TagRule_Kind.FIXED,
  value,
});

function defaultRule({ name, tokens, regex, substring, except }: DefaultTag): TagRule {
  const common = { name, substring, except };
  if (tokens !== undefined) {
    const first = tokens.slice(0, tokens.indexOf('.'));
    const isWild = first === '$' || first === '*';
    return {
      ...common,
      kind: TagRule_Kind.TOKENS,
      value: tokens,
      first_token: isWild ? '' : first,
    };
  }
  const pattern = regex ?? '';
  const compiled = compileRegex(pattern, UNLIMITED);
  if ('error' in compiled) throw new Error(`default tag ${name}: ${compiled.error}`);
  return {
    ...common,
    kind: TagRule_Kind.REGEX,
    regex: { pattern, program: compiled.program },
    first_token: firstTokenOf(pattern),
  };
}

/**
 * The token that names must begin with for the pattern to match, where it says so plainly. It decides
 * when a rule has its turn: those without come first.
 */
function firstTokenOf(pattern: string): string {
  return /^\^([A-Za-z0-9_]+)(?:\\\.|\(\?=\\\.\)|\$$)/.exec(pattern)?.[1] ?? '';
}

// ---- histograms ----

function compileBuckets(settings: readonly HistogramBucketSettings[], place: Place): BucketRule[] {
  return settings.flatMap((setting, index): BucketRule[] => {
    const at = place.index(index);
    refuseOtherFields(at, setting, BUCKETS);
    const match = compileStringMatcher(setting.match ?? {}, at.field('match'));
    // Without bounds of their own such histograms keep the default ones.
    if (!match || !setting.buckets?.length) return [];
    const ascending = [...setting.buckets].sort((a, b) => a - b);
    return [{ match, bounds: new Uint8Array(Float64Array.from(ascending).buffer) }];
  });
}
