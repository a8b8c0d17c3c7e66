import { formatIssue } from '../../../src/config/issues/issue.js';
import { loadBootstrap, type LoadOptions } from '../../../src/config/load.js';

/**
 * What is wrong with a bootstrap given as --config-yaml: one line each, without the name of the
 * source.
 */
export function problemsOf(yaml: string, options: LoadOptions = {}): string[] {
  return loadBootstrap({ inlineYaml: yaml }, options).issues.map(
    (issue) =>
      `${issue.severity === 'warning' ? 'warning ' : ''}${formatIssue(issue).replace('--config-yaml:', '')}`,
  );
}

/** A bootstrap with one cluster that has these fields; they begin in line 4 and column 5. */
export function cluster(...lines: readonly string[]): string {
  return [
    'static_resources:',
    '  clusters:',
    '  - name: c',
    ...lines.map((line) => `    ${line}`),
    '',
  ].join('\n');
}

/** A bootstrap whose one HTTP filter has this configuration, in line 11 from column 27 on. */
export function httpFilter(config: string): string {
  return `static_resources:
  listeners:
  - filter_chains:
    - filters:
      - name: http
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: in
          route_config: {}
          http_filters:
          - {name: f, typed_config: ${config}}
    address: {socket_address: {address: 0.0.0.0, port_value: 80}}
`;
}

export const HTTP_FILTER_PATH =
  'static_resources.listeners[0].filter_chains[0].filters[0].typed_config.http_filters[0].typed_config';
