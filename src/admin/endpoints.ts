// The one table of admin endpoints: it drives routing, method checks, /help and the home page.
import type { AdminHandler } from './http.js';

export interface EndpointParameter {
  readonly name: string;
  readonly help: string;
  readonly oneOf?: readonly string[];
}

export interface Endpoint {
  readonly path: string;
  readonly help: string;
  /** It changes something: only POST may. */
  readonly mutates: boolean;
  readonly parameters: readonly EndpointParameter[];
  readonly handle: AdminHandler;
}

/** The list of /help and of an unknown path: sorted, parameters below. */
export function endpointList(endpoints: readonly Endpoint[]): string {
  const sorted = [...endpoints].sort((a, b) => (a.path < b.path ? -1 : 1));
  const lines = sorted.flatMap((endpoint) => [
    `  ${endpoint.path}${endpoint.mutates ? ' (POST)' : ''}: ${endpoint.help}`,
    ...endpoint.parameters.map((parameter) => {
      const choice = parameter.oneOf === undefined ? '' : `; One of (${parameter.oneOf.join(', ')})`;
      return `      ${parameter.name}: ${parameter.help}${choice}`;
    }),
  ]);
  return `admin commands are:\n${lines.join('\n')}\n`;
}
