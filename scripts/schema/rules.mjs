// protoc-gen-validate's options of a field, as the table keeps them: times in ms, lists as arrays.

const LISTS = new Set(['in', 'not_in']);
const BOUNDS = new Set(['const', 'lt', 'lte', 'gt', 'gte', 'in', 'not_in']);

/** @param {object | undefined} options @returns {object | undefined} */
export function rulesOf(options) {
  if (!options) return undefined;
  const rules = {};
  for (const [kind, values] of Object.entries(options)) rules[kind] = kindRules(kind, values);
  return rules;
}

function kindRules(kind, values) {
  const rules = {};
  for (const [name, value] of Object.entries(values)) {
    if (name === 'items' || name === 'keys' || name === 'values') rules[name] = rulesOf(value);
    else if (LISTS.has(name)) rules[name] = [value].flat().map((item) => bound(kind, name, item));
    else rules[name] = bound(kind, name, value);
  }
  return rules;
}

function bound(kind, name, value) {
  const isTime = kind === 'duration' || kind === 'timestamp';
  return isTime && BOUNDS.has(name) ? timeMs(value) : value;
}

const timeMs = ({ seconds = 0, nanos = 0 }) => Number(seconds) * 1000 + Number(nanos) / 1e6;
