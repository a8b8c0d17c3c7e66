import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Issue } from '../../../../src/config/issues/issue.js';
import {
  compileHeaderMatcher,
  compileQueryMatcher,
  compileStringMatcher,
} from '../../../../src/plan/match/matchers.js';
import { Place } from '../../../../src/plan/message/place.js';
import { HeaderMatch_Kind, StringMatch_Kind } from '../../../../src/plan/plan.gen.js';

const nowhere = Place.root([]);

test('each kind of text match is told apart', () => {
  const kindOf = (message: object) => compileStringMatcher(message, nowhere)?.kind;
  assert.equal(kindOf({ exact: '' }), StringMatch_Kind.EXACT);
  assert.equal(kindOf({ prefix: 'a' }), StringMatch_Kind.PREFIX);
  assert.equal(kindOf({ suffix: 'a' }), StringMatch_Kind.SUFFIX);
  assert.equal(kindOf({ contains: 'a' }), StringMatch_Kind.CONTAINS);
  assert.equal(kindOf({ safe_regex: { regex: 'a' } }), StringMatch_Kind.REGEX);
});

test('how large a pattern may be says it itself, or the runtime', () => {
  const issuesOf = (levels: Record<string, number>, safe_regex: object): string => {
    const issues: Issue[] = [];
    const runtime = {
      numberAnew: (key: string, fallback: number) =>
        levels[key.replace('re2.max_program_size.', '')] ?? fallback,
    };
    compileStringMatcher({ safe_regex }, Place.root(issues).reading(runtime).field('a'));
    return issues.map(({ severity, message }) => `${severity}: ${message}`).join();
  };
  const long = { regex: 'a{200}' };
  const own = { ...long, google_re2: { max_program_size: 1000 } };
  const ends = 'Increase configured max program size if necessary.';
  const size = "regex 'a{200}' RE2 program size of 204 > max program size of";
  const error = `set for the error level threshold. ${ends}`;
  assert.equal(issuesOf({}, long), `error: ${size} 100 ${error}`);
  assert.equal(issuesOf({ error_level: 3 }, long), `error: ${size} 3 ${error}`);
  assert.equal(issuesOf({ error_level: 1000 }, long), '');
  assert.equal(
    issuesOf({ error_level: 1000, warn_level: 9 }, long),
    `warning: ${size} 9 set for the warn level threshold. ${ends}`,
  );
  assert.equal(issuesOf({ error_level: 3, warn_level: 9 }, own), '');
});

test('a match that ignores case is kept in lower case', () => {
  assert.deepEqual(compileStringMatcher({ exact: 'ABC', ignore_case: true }, nowhere), {
    kind: StringMatch_Kind.EXACT,
    value: 'abc',
    ignore_case: true,
  });
});

test('a header without a condition must be there', () => {
  const match = compileHeaderMatcher({ name: 'X-A' }, nowhere);
  assert.equal(match?.name, 'x-a');
  assert.equal(match?.kind, HeaderMatch_Kind.PRESENT);
  assert.equal(match?.present, true);
});

test('the older conditions on headers mean what the newer ones do', () => {
  const older = compileHeaderMatcher({ name: 'a', prefix_match: 'x', invert_match: true }, nowhere);
  const newer = compileHeaderMatcher(
    { name: 'a', string_match: { prefix: 'x' }, invert_match: true },
    nowhere,
  );
  assert.deepEqual(older, newer);
});

test('host is the authority', () => {
  assert.equal(compileHeaderMatcher({ name: 'Host' }, nowhere)?.name, ':authority');
});

test('a range keeps its ends, below zero too', () => {
  const match = compileHeaderMatcher({ name: 'a', range_match: { start: -10, end: 5 } }, nowhere);
  assert.deepEqual([match?.range_start, match?.range_end], [-10, 5]);
});

test('a query parameter may be asked for by presence or by text', () => {
  assert.deepEqual(compileQueryMatcher({ name: 'q', present_match: true }, nowhere), { name: 'q' });
  const match = compileQueryMatcher({ name: 'q', string_match: { exact: 'v' } }, nowhere);
  assert.equal(match?.string_match?.value, 'v');
});

test('a pattern that is wrong is reported where it stands', () => {
  const issues: Issue[] = [];
  const match = compileStringMatcher(
    { safe_regex: { regex: '[' } },
    Place.root(issues).field('a').index(1),
  );
  assert.equal(match, undefined);
  assert.equal(issues[0]?.path, 'a[1].safe_regex.regex');
  assert.match(issues[0]?.message ?? '', /missing (closing )?\]/);
});

test('an empty exact_match fits any value, as in the real server', () => {
  const match = compileHeaderMatcher({ name: 'a', exact_match: '' }, nowhere);
  assert.equal(match?.string_match?.kind, StringMatch_Kind.PREFIX);
  assert.equal(match?.string_match?.value, '');
});

test('a pattern may be as large as google_re2 lets it, else as large as the default', () => {
  const issuesOf = (safe_regex: object) => {
    const issues: Issue[] = [];
    compileStringMatcher({ safe_regex: { regex: 'a{1,90}b', ...safe_regex } }, Place.root(issues));
    return issues.length;
  };
  assert.equal(issuesOf({}), 1);
  assert.equal(issuesOf({ google_re2: { max_program_size: 1000 } }), 0);
  assert.equal(issuesOf({ google_re2: { max_program_size: 100 } }), 1);
});
