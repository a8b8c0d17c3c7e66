import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatIssue } from '../../../src/config/issues/issue.js';
import { loadBootstrap } from '../../../src/config/load.js';
import { printMessage } from '../../../src/config/print.js';
import { schema } from '../../../src/config/schema/schema.js';
import { mutatedText, randomNumbers } from '../support/mutation.js';

const MUTATIONS = 800;
const SEED = 20_240_607;

const GOOD = `node: {id: one, cluster: c, metadata: {a: [1, {b: null}], "c": 'd'}}
admin:
  access_log:
  - name: envoy.access_loggers.file
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog
      path: /dev/null
      log_format: {text_format_source: {inline_string: "%START_TIME% %RESPONSE_CODE%\\n"}}
  address: &admin {socket_address: {address: 127.0.0.1, port_value: 9901}}
static_resources:
  listeners:
  - name: in
    address: {socket_address: {address: 0.0.0.0, port_value: 010}}
    filter_chains:
    - filters:
      - name: http
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: in
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
              - match: {prefix: /, headers: [{name: x, string_match: {exact: b}}]}
                route: {cluster: c, timeout: 1.5s, retry_policy: {retry_on: 5xx, num_retries: 3}}
              - match: {safe_regex: {regex: "/a.*"}}
                direct_response: {status: 200, body: {inline_string: ok}}
          http_filters:
          - name: router
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
  clusters:
  - name: c
    type: STRICT_DNS
    connect_timeout: 0.25s
    lb_policy: ROUND_ROBIN
    health_checks: [{timeout: 1s, interval: 5s, unhealthy_threshold: 2, healthy_threshold: 2, tcp_health_check: {send: {text: "00FF"}}}]
    load_assignment:
      cluster_name: c
      endpoints:
      - lb_endpoints:
        - endpoint: {address: *admin}
          load_balancing_weight: 3
    # the end
    metadata:
      filter_metadata:
        envoy.lb:
          text: |
            block
`;

test(`${MUTATIONS} mutations of a good bootstrap: each is loaded or refused with reasons, none throws`, () => {
  const good = loadBootstrap({ inlineYaml: GOOD });
  assert.deepEqual(good.issues.map(formatIssue), []);
  const json = JSON.stringify(
    printMessage(schema(), schema().getMessage('envoy.config.bootstrap.v3.Bootstrap'), {
      ...good.bootstrap,
    }),
    null,
    1,
  );
  const random = randomNumbers(SEED);
  let refused = 0;
  for (let count = 0; count < MUTATIONS; count++) {
    const text = mutatedText(count % 2 === 0 ? GOOD : json, random);
    const inlineYaml = count % 7 === 0 ? { inlineYaml: text } : { inlineYaml: `${text}\n` };
    const { bootstrap, issues, locate } = loadBootstrap(inlineYaml);
    const isRefused = issues.some(({ severity }) => severity === 'error');
    assert.equal(bootstrap === undefined, isRefused, text);
    for (const issue of issues) assert.ok(issue.position, `${formatIssue(issue)}\n${text}`);
    locate('static_resources.listeners[0].filter_chains[0].filters[0].typed_config.stat_prefix');
    if (bootstrap)
      printMessage(schema(), schema().getMessage('envoy.config.bootstrap.v3.Bootstrap'), {
        ...bootstrap,
      });
    else refused++;
  }
  assert.ok(refused > MUTATIONS / 4 && refused < MUTATIONS, `${refused} were refused`);
  assert.equal(Object.keys(Object.prototype).length, 0);
});
