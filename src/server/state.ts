// What the server is doing, as /ready, /server_info and `server.state` show it.

export const STATES = ['LIVE', 'DRAINING', 'PRE_INITIALIZING', 'INITIALIZING'] as const;
export type ServerState = (typeof STATES)[number];

/** The value of the gauge `server.state`. */
export function stateNumber(state: ServerState): number {
  return STATES.indexOf(state);
}
