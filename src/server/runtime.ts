// Runtime values by layer, as /runtime shows them, and the overrides that /runtime_modify sets.
import { parseDocument } from 'yaml';
import type { envoy_config_bootstrap_v3_Bootstrap as Bootstrap } from '../../build/messages.gen.js';
import { isObject, type PlainObject } from '../config/objects.js';
import { structDebugText } from '../config/debug-text.js';
import type { ControlStats } from './control-stats.js';

export interface RuntimeLayer {
  readonly name: string;
  /** Keys to values as text. */
  readonly values: Map<string, string>;
  /** It holds what the admin interface sets. */
  readonly isAdmin: boolean;
}

export interface RuntimeHooks {
  readonly stats: ControlStats;
  /** Whether the data plane would have to do something else with these values over the others. */
  readonly wouldChange: (overrides: PlainObject) => boolean;
}

/** Why overrides were refused: none of them was set. */
export interface RuntimeRefusal {
  readonly why: string;
}

export class Runtime {
  /** In their order: a later one wins. */
  readonly layers: readonly RuntimeLayer[];
  readonly #hooks: RuntimeHooks;

  constructor(bootstrap: Bootstrap, hooks: RuntimeHooks) {
    this.#hooks = hooks;
    this.layers = (bootstrap.layered_runtime?.layers ?? []).map((layer) => ({
      name: layer.name ?? '',
      values: new Map(flatten(layer.static_layer ?? {}, '')),
      isAdmin: layer.admin_layer !== undefined,
    }));
    this.#count();
  }

  keys(): ReadonlySet<string> {
    return new Set(this.layers.flatMap(({ values }) => [...values.keys()]));
  }

  /** Adds overrides, and takes those back whose value is empty. */
  modify(changes: ReadonlyMap<string, string>): RuntimeRefusal | undefined {
    const admin = this.layers.find(({ isAdmin }) => isAdmin);
    if (!admin) return { why: 'No admin layer specified' };
    const wanted = new Map(admin.values);
    for (const [key, value] of changes) {
      if (value === '') wanted.delete(key);
      else wanted.set(key, value);
    }
    const overrides: PlainObject = Object.create(null) as PlainObject;
    for (const [key, text] of wanted) {
      const { errors, value } = readValue(text);
      if (errors.length > 0) return { why: errors.join('\n') };
      overrides[key] = value;
    }
    if (this.#hooks.wouldChange(overrides)) {
      const keys = [...changes.keys()].join(', ');
      return { why: `a listener or a route reads its runtime values at the start only: ${keys}` };
    }
    admin.values.clear();
    for (const [key, text] of wanted) admin.values.set(key, text);
    this.#count();
    return undefined;
  }

  #count(): void {
    const { stats } = this.#hooks;
    const hasOverrides = this.layers.some(({ isAdmin, values }) => isAdmin && values.size > 0);
    stats.setGauge('runtime.num_layers', this.layers.length);
    stats.setGauge('runtime.num_keys', this.keys().size);
    stats.setGauge('runtime.admin_overrides_active', hasOverrides ? 1 : 0);
    stats.count('runtime.load_success');
  }
}

function readValue(text: string): { readonly errors: readonly string[]; readonly value: unknown } {
  const document = parseDocument(text, { prettyErrors: false });
  return {
    errors: document.errors.map(({ message }) => message),
    value: document.errors.length > 0 ? undefined : document.toJS(),
  };
}

function flatten(struct: PlainObject, prefix: string): [string, string][] {
  return Object.entries(struct).flatMap(([name, value]): [string, string][] => {
    const key = prefix === '' ? name : `${prefix}.${name}`;
    if (!isObject(value)) return [[key, String(value)]];
    return isOneValue(value) ? [[key, structDebugText(value)]] : flatten(value, key);
  });
}

/** A share, which is a value of its own; so is a struct with nothing in it. */
function isOneValue(struct: PlainObject): boolean {
  return 'numerator' in struct || 'denominator' in struct || Object.keys(struct).length === 0;
}
