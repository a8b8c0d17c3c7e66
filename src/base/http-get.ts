// What this process asks of other servers over HTTP: by undici, which is loaded for the first request.
import { createRequire } from 'node:module';
import type * as Undici from 'undici';

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** An answer that is longer is none. */
const LONGEST_BYTES = 1 << 20;

let loaded: typeof Undici | undefined;

/** On a connection of its own. Undefined: there is no whole answer within the time. */
export async function httpGet(url: URL, timeoutMs: number): Promise<HttpAnswer | undefined> {
  loaded ??= createRequire(import.meta.url)('undici') as typeof Undici;
  const client = new loaded.Client(url.origin, { maxResponseSize: LONGEST_BYTES });
  try {
    const { statusCode, body } = await client.request({
      method: 'GET',
      path: url.pathname + url.search,
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { status: statusCode, text: await body.text() };
  } catch {
    return undefined;
  } finally {
    await client.destroy();
  }
}
