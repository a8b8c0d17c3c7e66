// admin.allow_paths: which targets may be asked for.
import { re2js } from '../../base/late-modules.js';
import { StringMatch_Kind, type StringMatch } from '../../plan/plan.gen.js';

type Test = (target: string) => boolean;

/** Without matchers everything may be asked for. */
export function compileAllowedPaths(matchers: readonly StringMatch[]): Test {
  if (matchers.length === 0) return () => true;
  const tests = matchers.map(compileMatcher);
  return (target) => tests.some((test) => test(target));
}

function compileMatcher({ kind, value = '', ignore_case: ignoreCase, regex }: StringMatch): Test {
  if (kind === StringMatch_Kind.REGEX) {
    const pattern = re2js().RE2JS.compile(regex?.pattern ?? '');
    return (target) => pattern.matches(target);
  }
  const folded = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const wanted = folded(value);
  switch (kind) {
    case StringMatch_Kind.PREFIX:
      return (target) => folded(target).startsWith(wanted);
    case StringMatch_Kind.SUFFIX:
      return (target) => folded(target).endsWith(wanted);
    case StringMatch_Kind.CONTAINS:
      return (target) => folded(target).includes(wanted);
    default:
      return (target) => folded(target) === wanted;
  }
}
