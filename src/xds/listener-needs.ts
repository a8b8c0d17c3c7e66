// What a listener needs before it is put in place: the routes, filters and secrets of what is new of it.
import type { DiscoveredPlace } from '../plan/discovered.js';
import type { SecretRequest } from '../plan/secret-request.js';
import type { Change } from './listener-round.js';

/** Each answers undefined where it has come, or is not waited for any longer. */
export interface NeedSources {
  /** Of a table. */
  routes(slot: string): Promise<unknown> | undefined;
  filter(place: DiscoveredPlace): Promise<unknown> | undefined;
  secrets(requests: readonly SecretRequest[]): Promise<unknown> | undefined;
  /** All that has been asked for so far. */
  rest(): Promise<unknown> | undefined;
}

/** Undefined: it is all there. Otherwise something more may be needed then. */
export function needsOf(change: Change, sources: NeedSources): Promise<unknown> | undefined {
  const { chains, known, discovered, secrets, isInPlace } = change;
  const fresh = [...chains].filter(([key, chain]) => known.get(key) !== chain);
  const own = fresh.map(([, chain]) => chain);
  const places = [
    ...(isInPlace ? [] : discovered),
    ...own.flatMap((chain) => [...chain.discovered]),
  ];
  const requestsOf = (held: Change['secrets']): SecretRequest[] =>
    held.flatMap(({ request }) => request ?? []);
  const slots = own.flatMap(({ routes }) => [...routes.requested]);
  const needs = [
    ...slots.map((slot) => sources.routes(slot)),
    ...places.map((place) => sources.filter(place)),
    sources.secrets(isInPlace ? [] : requestsOf(secrets)),
    ...own.flatMap((chain) => [
      sources.secrets(requestsOf(chain.secrets)),
      ...chain.sockets.map(({ recipe }) => sources.secrets(recipe?.requests ?? [])),
    ]),
  ].filter((one) => one !== undefined);
  if (needs.length > 0) return Promise.all(needs);
  // Scopes and connection managers that have come want routes of their own.
  const hasMore = own.some(
    ({ routes, discovered: some }) =>
      routes.hasScopes || some.some(({ kind }) => kind === 'network_filter'),
  );
  return hasMore ? sources.rest() : undefined;
}
