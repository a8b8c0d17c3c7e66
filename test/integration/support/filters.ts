// Proxies with filters before their router.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { webBootstrap } from './bootstraps.js';
import { startProxy } from './start-proxy.js';

/** What the types of filters begin with. */
export const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';

interface Manager {
  http_filters: object[];
}

/** The bootstrap with these filters before its router. */
export function withFilters(bootstrap: ReturnType<typeof webBootstrap>, filters: object[]): object {
  const copy = structuredClone(bootstrap) as unknown as {
    static_resources: {
      listeners: { filter_chains: { filters: { typed_config: Manager }[] }[] }[];
    };
  };
  const manager = copy.static_resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config;
  assert.ok(manager);
  manager.http_filters = [...filters, ...manager.http_filters];
  return copy;
}

/** A story of these filters before routes that are answered by a host which echoes. */
export async function behind(
  t: TestContext,
  filters: object[],
  routes: (origin: string) => object[],
  runtime: object = {},
): Promise<{ url: string; adminUrl: string; stat(name: string): Promise<string> }> {
  const origin = createServer((request, response) => {
    const { 'content-length': length = 'none' } = request.headers;
    request.resume().on('end', () => response.end(`length ${length}`));
  });
  const port = await new Promise<number>((resolve) => {
    origin.listen(0, '127.0.0.1', () => resolve((origin.address() as AddressInfo).port));
  });
  t.after(() => origin.close());
  const bootstrap = webBootstrap(routes('origin') as Record<string, unknown>[], { origin: port });
  const proxy = await startProxy(t, { ...withFilters(bootstrap, filters), ...runtime });
  return {
    url: await proxy.listenerUrl('web'),
    adminUrl: proxy.adminUrl,
    stat: async (name) => (await fetch(`${proxy.adminUrl}/stats?filter=${name}$`)).text(),
  };
}
