// One thing that can be asked of the admin server, and how it is described.
import type { AdminHandler } from './http/http.js';

export interface EndpointParameter {
  readonly name: string;
  readonly help: string;
  readonly oneOf?: readonly string[];
  /** Its presence is enough. */
  readonly isFlag?: boolean;
}

export interface Endpoint {
  readonly path: string;
  readonly help: string;
  /** It changes something: only POST may. */
  readonly mutates: boolean;
  readonly parameters: readonly EndpointParameter[];
  /** The real server does not have it: it is left out of /help, which scripts read. */
  readonly isOwn?: boolean;
  /** As the real server reads it: its parameters are those of the query, never of a form. */
  readonly ignoresForm?: boolean;
  readonly handle: AdminHandler;
}

/** What /help says, and what an unknown path is told. */
export function endpointList(endpoints: readonly Endpoint[]): string {
  const shared = endpoints.filter(({ isOwn }) => !isOwn);
  const lines = shared.flatMap(({ path, help, mutates, parameters }) => [
    `  ${path}${mutates ? ' (POST)' : ''}: ${help}`,
    ...parameters.map((parameter) => `      ${parameter.name}: ${parameterHelp(parameter)}`),
  ]);
  return `admin commands are:\n${lines.join('\n')}\n`;
}

export function parameterHelp({ help, oneOf }: EndpointParameter): string {
  return oneOf === undefined ? help : `${help}; One of (${oneOf.join(', ')})`;
}
