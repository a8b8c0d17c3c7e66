// What this process asks of other servers over HTTP: by undici, which is loaded for the first request.
import { undici } from './late-modules.js';

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** An answer that is longer is none. */
const LONGEST_BYTES = 1 << 20;

/** On a connection of its own. Undefined: there is no whole answer within the time. */
export async function httpGet(url: URL, timeoutMs: number): Promise<HttpAnswer | undefined> {
  const client = new (undici().Client)(url.origin, { maxResponseSize: LONGEST_BYTES });
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
