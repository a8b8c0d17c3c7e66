import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Issue } from '../../../../src/config/issues/issue.js';
import {
  compileTemplateRewrite,
  compileUriTemplate,
} from '../../../../src/plan/match/uri-template.js';
import { Place } from '../../../../src/plan/message/place.js';

const patternOf = (path_template: string): string | undefined => {
  const issues: Issue[] = [];
  const match = compileUriTemplate({ path_template }, Place.root(issues));
  assert.equal(issues.length, match === undefined ? 1 : 0);
  return match?.regex?.pattern;
};

const ANY = "[a-zA-Z0-9\\-._~%!$&'()+,;:@=*]+";
const REST = "[a-zA-Z0-9\\-._~%!$&'()+,;:@=*/]*";

test('a template is an expression with a group for each variable', () => {
  assert.equal(patternOf('/'), '/');
  assert.equal(patternOf('/a.b/*/**'), `/a\\.b/${ANY}/${REST}`);
  assert.equal(patternOf('/{a}.html/{b=x/*/y}'), `/(${ANY})\\.html/(x/${ANY}/y)`);
  assert.equal(patternOf('/v{a}x/*'), `/v(${ANY})x/${ANY}`);
  assert.equal(patternOf('/{a=b=c}/'), '/(b=c)/');
});

test('what takes any length may have literals behind it, and a star in a literal repeats', () => {
  assert.equal(patternOf('/{a=**}.ts/x'), `/(${REST})\\.ts/x`);
  assert.equal(patternOf('/**/x{b=c}'), `/${REST}/x(c)`);
  assert.equal(patternOf('/*a*'), `/${ANY}a*`);
  // No path is like a repetition of a repetition.
  assert.equal(patternOf('/a**'), '[^\\s\\S]/a*');
});

test('what is no template is refused', () => {
  for (const template of [
    ...['a', '/a b', '/ä', '/a?', '//', '/a//', '/{a}{b}', '/x{a}y{b}', '/{a', '/a}', '/*{a}'],
    ...['/*a/b', '/**/*', '/**/{a}', '/{a=**/*}', '/{a=*b}', '/{a=x/}', '/{a=/x}', '/{a=}', '/{}'],
    ...['/{1}', '/{a}/{a}', '/{a}/{b}/{c}/{d}/{e}/{f}', '/x{a=b/c}', '/{abcdefghijklmnopq}'],
  ]) {
    assert.equal(patternOf(template), undefined, template);
  }
});

test('what a path becomes has the characters of paths', () => {
  const issuesOf = (path_template_rewrite: string): string => {
    const issues: Issue[] = [];
    const template = { path_template: '/{a}/{b}' };
    compileTemplateRewrite({ path_template_rewrite }, template, Place.root(issues));
    return issues.map(({ message }) => message).join();
  };
  assert.equal(issuesOf('/*/{b}-{a}/%20'), '');
  for (const bad of ['/a b', '/a?b', '/a#b', '/ä', '/[', '/a\\1', '//', '/{a=b}']) {
    assert.equal(issuesOf(bad), `path_rewrite_policy.path_template_rewrite ${bad} is invalid`);
  }
  assert.equal(
    issuesOf('/{c}'),
    'mismatch between variables in path_match_policy /{a}/{b} and path_rewrite_policy /{c}',
  );
});
