// What the server is doing, as /ready, /server_info and `server.state` show it.

/** In the order of their numbers in `server.state`. */
export const STATES = ['LIVE', 'DRAINING', 'PRE_INITIALIZING', 'INITIALIZING'] as const;
export type ServerState = (typeof STATES)[number];

export function stateNumber(state: ServerState): number {
  return STATES.indexOf(state);
}
