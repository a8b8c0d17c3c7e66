// Waits for locks, and what the start waits for.
import { crypto } from '../../base/late-modules.js';
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';
import { jsonReply, type AdminReply } from '../http/http.js';

const NO_TRACING =
  'Mutex contention tracing is not enabled. To enable, run Envoy with flag --enable-mutex-tracing.';

export function diagnosticEndpoints(host: AdminHost): Endpoint[] {
  return [
    page('/contention', 'how long locks were waited for, if that is traced', () =>
      contention(host),
    ),
    {
      ...page('/init_dump', 'what the start waits for', ({ parameters }) =>
        // Only listeners are told of by component.
        ['', 'listener'].includes(parameters.get('mask') ?? '') ? initDump(host) : jsonReply({}),
      ),
      parameters: [{ name: 'mask', help: 'The parts to show, such as listener' }],
    },
  ];
}

/**
 * As the real server, which tells of listeners alone: before it is LIVE each static one is waited for, and
 * what it waits for itself; at any time those of LDS that are not in place yet.
 */
function initDump(host: AdminHost): AdminReply {
  const { xds, bootstrap } = host;
  const isWaiting = ['PRE_INITIALIZING', 'INITIALIZING'].includes(host.state());
  const known = xds ? xds.unready : [];
  const unready = known && new Set(known);
  const isUnready = ({ until }: Target): boolean =>
    !unready || until.some((one) => unready.has(one));
  const fixed = isWaiting ? (bootstrap.static_resources?.listeners ?? []) : [];
  const warming = (xds?.listeners()?.warming ?? []).map(({ message }) => message);
  const ofListeners = [...fixed, ...warming].map((listener) => ({
    listener,
    targets: targetsOf(listener, xds?.scopes() ?? []).filter(isUnready),
  }));
  const dumps = ofListeners.map(({ listener, targets }) => ({
    name: `init manager Listener-local-init-manager ${listener.name ?? ''} ${hashOf(listener)}`,
    ...(targets.length > 0 && { target_names: [...new Set(targets.map(({ shown }) => shown))] }),
  }));
  return jsonReply(dumps.length > 0 ? { unready_targets_dumps: dumps } : {});
}

interface Target {
  readonly shown: string;
  /** What it is waited for, as the control plane's part calls it: any of it. */
  readonly until: readonly string[];
}

const shared = (name: string, ...until: readonly string[]): Target => ({
  shown: `shared target ${name}`,
  until: [name, ...until],
});

/** Of a route configuration that is the listener's own. */
const ofHosts = (table: string): Target => ({
  shown: `target StaticRouteConfigProvider local-init-target ${table}`,
  until: [`VHDS ${table}`],
});

const tableTarget = (name: string): string => `RdsRouteConfigSubscription RDS init ${name}`;

type Scopes = ReturnType<NonNullable<AdminHost['xds']>['scopes']>;

/** What it may wait for: routes, scopes, filters and secrets that come later. */
function targetsOf(message: object, scopes: Scopes): Target[] {
  const targets: Target[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
    const { name, config_discovery: filter, rds } = value as Readonly<Record<string, unknown>>;
    if (filter) targets.push(shared(`FilterConfigSubscription init ${String(name)}`));
    const table = (rds as { readonly route_config_name?: string } | undefined)?.route_config_name;
    const { sds_config: secrets, scoped_rds: isScoped } = value as Readonly<
      Record<string, unknown>
    >;
    const { route_config: written } = value as {
      readonly route_config?: { readonly name?: string; readonly vhds?: object };
    };
    if (written?.vhds) targets.push(ofHosts(written.name ?? ''));
    if (secrets) targets.push(shared(`SdsApi ${String(name)}`));
    // Its virtual hosts are a part of it.
    if (table) targets.push(shared(tableTarget(table), `VHDS ${table}`));
    if (isScoped) targets.push(scopesTarget(String(name), scopes));
    for (const inner of Object.values(value)) visit(inner);
  };
  visit(message);
  return targets;
}

/** Scopes are there once their routes are. */
function scopesTarget(name: string, scopes: Scopes): Target {
  const own = scopes.find((one) => one.name === name)?.all ?? [];
  const tables = own.flatMap(({ message }) => message.route_configuration_name ?? []);
  const shown = "target ConfigSubscriptionCommonBase init target 'SRDS'";
  return { shown, until: [`SRDS ${name}`, ...tables.map(tableTarget)] };
}

/** A number of 64 bits that tells configurations apart. */
const hashOf = (message: object): bigint =>
  crypto().createHash('sha256').update(JSON.stringify(message)).digest().readBigUInt64LE();

function contention({ options, native }: AdminHost): AdminReply {
  if (!options.enableMutexTracing) return { body: NO_TRACING };
  const { count, lastWaitCycles, totalWaitCycles } = native.contention();
  return jsonReply({
    num_contentions: String(count),
    current_wait_cycles: String(lastWaitCycles),
    lifetime_wait_cycles: String(totalWaitCycles),
  });
}

function page(path: string, help: string, handle: Endpoint['handle']): Endpoint {
  return { path, help, mutates: false, parameters: [], handle };
}
