// native/stats/catalogue.txt -> catalogue.gen.h: one struct per scope, with an enumerator per name.

const KINDS = ['counter', 'gauge', 'text', 'histogram'];
const PLURAL = { counter: 'kCounters', gauge: 'kGauges', text: 'kTexts', histogram: 'kHistograms' };
const LINE = /^ {2}(counter|gauge|text|histogram)(\?)? (\S+)(?: with (\S+))?$/;
/** A gauge has two slots: what went up, and what went down. */
const SLOTS = { counter: 1, gauge: 2 };

/** "0", a status, is no name in C++, nor is "/". */
const pascal = (name) =>
  name
    .replace(/^\/$/, 'slash')
    .split(/[^A-Za-z0-9]+|_/)
    .map((word) => word[0].toUpperCase() + word.slice(1))
    .join('')
    .replace(/^(?=[0-9])/, 'Status');

const byName = (a, b) => (a.name < b.name ? -1 : 1);

/** Each scope's statistics are sorted by name: the order in which they are shown. */
export function parseCatalogue(text) {
  const scopes = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '' || line.startsWith('#')) continue;
    if (!line.startsWith(' ')) {
      scopes.push({ name: line.trim(), codes: false, late: false, stats: [], apart: [] });
      continue;
    }
    const scope = scopes.at(-1);
    if (line === '  codes') {
      scope.codes = true;
      continue;
    }
    if (line === '  late') {
      scope.late = true;
      continue;
    }
    if (line.startsWith('  apart ')) {
      scope.apart.push({ line: index + 1, patterns: line.trim().split(' ').slice(1) });
      continue;
    }
    const match = LINE.exec(line);
    if (!match)
      throw new Error(`catalogue.txt:${index + 1}: expected "  kind name", found "${line}"`);
    const [, kind, lazy, name, companion] = match;
    if (scope.stats.some((stat) => stat.name === name)) {
      throw new Error(`catalogue.txt:${index + 1}: ${scope.name} has ${name} twice`);
    }
    scope.stats.push({ kind, lazy: lazy === '?', name, companion });
  }
  for (const scope of scopes) {
    scope.stats.sort(byName);
    scope.groups = groupsOf(scope);
  }
  return scopes;
}

/** The counters and gauges that have slots together: of each `apart` line, after all others. */
function groupsOf(scope) {
  const groups = [[], ...scope.apart.map(() => [])];
  for (const stat of scope.stats) {
    if (!(stat.kind in SLOTS)) continue;
    const apart = scope.apart.findIndex(({ patterns }) => patterns.some((p) => fits(stat.name, p)));
    groups[apart + 1].push(stat);
  }
  for (const { line, patterns } of scope.apart) {
    const idle = patterns.find((p) => !scope.stats.some((stat) => fits(stat.name, p)));
    if (idle) throw new Error(`catalogue.txt:${line}: ${scope.name} has no "${idle}"`);
  }
  return groups;
}

function fits(name, pattern) {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** Where each counter or gauge has its (first) slot, and how many slots a group has. */
function placesOf(scope) {
  const places = new Map();
  const sizes = scope.groups.map((group, index) => {
    let size = 0;
    for (const stat of group) {
      places.set(stat, `{${index}, ${size}}`);
      size += SLOTS[stat.kind];
    }
    return size;
  });
  return { places, sizes };
}

function emitPlaces(kind, stats, places) {
  const type = `std::array<Place, ${stats.length}>`;
  const rows = stats.map((stat) => `      ${places.get(stat)},\n`).join('');
  return `  static constexpr ${type} k${pascal(kind)}Places = {{\n${rows}  }};\n`;
}

function emitStat(stat) {
  if (stat.companion) {
    const counter = `static_cast<int>(Counter::${pascal(stat.companion)})`;
    return `      {"${stat.name}", Shown::With,\n       ${counter}},\n`;
  }
  return `      {"${stat.name}", Shown::${stat.lazy ? 'OnceUsed' : 'Always'}, 0},\n`;
}

function emitScope(scope) {
  const byKind = Object.fromEntries(
    KINDS.map((kind) => [kind, scope.stats.filter((stat) => stat.kind === kind)]),
  );
  const enums = KINDS.map((kind) => {
    const names = byKind[kind].map((stat) => `    ${pascal(stat.name)},\n`).join('');
    return `  enum class ${pascal(kind)} : uint16_t {\n${names}    kCount,\n  };\n`;
  }).join('');
  const tables = KINDS.map((kind) => {
    const rows = byKind[kind].map(emitStat).join('');
    const type = `std::array<StatName, ${byKind[kind].length}>`;
    return `  static constexpr ${type} ${PLURAL[kind]} = {{\n${rows}  }};\n`;
  }).join('');
  const values = scope.stats.filter((stat) => stat.kind === 'counter' || stat.kind === 'gauge');
  const order = values
    .map((stat) => `      {Kind::${pascal(stat.kind)}, ${byKind[stat.kind].indexOf(stat)}},\n`)
    .join('');
  const { places, sizes } = placesOf(scope);
  const slots = Object.keys(SLOTS)
    .map((kind) => emitPlaces(kind, byKind[kind], places))
    .join('');
  const completed = byKind.counter.some((stat) => stat.name === 'upstream_rq_completed');
  return `struct ${scope.name} {
${enums}${tables}  static constexpr std::array<StatRef, ${values.length}> kValues = {{
${order}  }};
${slots}  static constexpr std::array<uint8_t, ${sizes.length}> kGroups = {{${sizes.join(', ')}}};
  static constexpr Layout kLayout = {kCounters,      kGauges,      kTexts,
                                     kHistograms,    kValues,      kCounterPlaces,
                                     kGaugePlaces,   kGroups,      ${scope.codes},
                                     ${completed}, ${scope.late}};
};
`;
}

export function emitCatalogue(scopes) {
  return `// Generated by proto/generate.mjs from native/stats/catalogue.txt. Do not edit.
#pragma once

#include <array>
#include <cstdint>

#include "stats/layout.h"

namespace fairlead::stats {

${scopes.map(emitScope).join('\n')}
}  // namespace fairlead::stats
`;
}
