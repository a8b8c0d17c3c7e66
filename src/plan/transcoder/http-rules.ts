// Methods of services and the rules of google.api.http that they have, as the plan has them.
import type { HttpBinding, TranscodedMethod } from '../plan.gen.js';
import type { DescriptorPool, Method, PoolTables } from './descriptor-pool.js';
import type { HttpRule } from './descriptor-set.js';
import { parsePathTemplate } from './path-template.js';

const HTTP_BODY = 'google.api.HttpBody';

/** A method with its rule; in words, what is wrong with it. */
export interface RuledMethod {
  readonly method: Method;
  readonly rule: HttpRule;
  readonly requestPath: readonly string[];
  readonly responsePath: readonly string[];
  readonly takesHttpBody: boolean;
  readonly givesHttpBody: boolean;
}

export function ruledMethod(
  pool: DescriptorPool,
  method: Method,
  rule: HttpRule,
): RuledMethod | string {
  const body = rule.body === '*' ? '' : (rule.body ?? '');
  const request = resolve(pool, method.input, body);
  if (typeof request === 'string') return request;
  const response = resolve(pool, method.output, rule.response_body ?? '');
  if (typeof response === 'string') return response;
  const givesHttpBody = response.type === HTTP_BODY;
  if (response.path.length > 0 && !givesHttpBody)
    return `Setting "response_body" is not supported yet for non-HttpBody fields: ${method.name}`;
  return {
    method,
    rule,
    requestPath: request.path,
    responsePath: response.path,
    takesHttpBody: request.type === HTTP_BODY,
    givesHttpBody,
  };
}

interface Resolved {
  readonly path: readonly string[];
  /** The message that is there. */
  readonly type: string | undefined;
}

/** A path of fields from a message, or what is wrong with it. */
function resolve(pool: DescriptorPool, message: string, path: string): Resolved | string {
  const names = path.split('.').filter((name) => name !== '');
  const found: string[] = [];
  let type: string | undefined = message;
  let last = '';
  for (const name of names) {
    if (type === undefined)
      return `Encountered a non-leaf field "${last}" that is not a message while parsing a field path`;
    const field = pool.field(type, name);
    if (!field) return `Could not find field "${name}" in the type "${type}".`;
    found.push(field.name);
    last = field.name;
    type = field.message;
  }
  return { path: found, type };
}

export function methodPlan(ruled: RuledMethod, tables: PoolTables): TranscodedMethod {
  const { descriptor, name, input, output } = ruled.method;
  const dot = name.lastIndexOf('.');
  return {
    path: `/${name.slice(0, dot)}/${name.slice(dot + 1)}`,
    input: tables.placeOf(input),
    output: tables.placeOf(output),
    client_streaming: descriptor.client_streaming,
    server_streaming: descriptor.server_streaming,
    takes_http_body: ruled.takesHttpBody,
    gives_http_body: ruled.givesHttpBody,
    request_body_path: [...ruled.requestPath],
    response_body_path: [...ruled.responsePath],
  };
}

/** Undefined: a path of it is no template. */
export function bindingsOf(rule: HttpRule, method: number): HttpBinding[] | undefined {
  const pattern = patternOf(rule);
  const own = pattern ? bindingOf(pattern, rule.body ?? '', method) : [];
  const others = (rule.additional_bindings ?? []).map((other) => bindingsOf(other, method));
  const all = [own, ...others];
  return all.includes(undefined) ? undefined : all.flatMap((bindings) => bindings ?? []);
}

type Pattern = readonly [httpMethod: string, path: string];

function bindingOf(
  [http_method, path]: Pattern,
  body: string,
  method: number,
): HttpBinding[] | undefined {
  const template = parsePathTemplate(path);
  if (!template) return undefined;
  const variables = template.variables.map(({ fieldPath, first, end }) => ({
    field_path: [...fieldPath],
    first,
    end: end >>> 0,
  }));
  const { segments, verb } = template;
  return [{ http_method, segments: [...segments], verb, variables, body, method }];
}

function patternOf(rule: HttpRule): Pattern | undefined {
  for (const name of ['get', 'put', 'post', 'delete', 'patch'] as const)
    if (Object.hasOwn(rule, name)) return [name.toUpperCase(), rule[name] ?? ''];
  return rule.custom && [rule.custom.kind ?? '', rule.custom.path ?? ''];
}
