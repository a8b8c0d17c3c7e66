// GET /runtime and POST /runtime_modify
import { setOwn, type PlainObject } from '../../config/values/objects.js';
import type { Runtime } from '../../runtime/runtime.js';
import { keysOf } from '../../runtime/snapshot.js';
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';
import { badRequest, jsonReply } from '../http/http.js';

const USAGE = `usage: /runtime_modify?key1=value1&key2=value2&keyN=valueN
       or send the parameters as form values
use an empty value to remove a previously added override`;

export function runtimeEndpoints({ runtime }: AdminHost): Endpoint[] {
  return [
    {
      path: '/runtime',
      help: 'runtime values, by layer',
      mutates: false,
      parameters: [],
      handle: () => jsonReply(runtimeJson(runtime)),
    },
    {
      path: '/runtime_modify',
      help: 'set runtime values in the admin layer: ?key1=value1&key2=value2; an empty value takes one back',
      mutates: true,
      parameters: [],
      handle: ({ parameters }) => {
        if (parameters.size === 0) return badRequest(USAGE);
        const refusal = runtime.modify(parameters);
        return refusal ? { status: 503, body: refusal.why } : { body: 'OK\n' };
      },
    },
  ];
}

/** Bytes that were no UTF-8 are shown as blanks, as the real server does. */
const shown = (text: string): string => text.replaceAll('\ufffd', ' ');

function runtimeJson({ snapshot }: Runtime): object {
  const { layers } = snapshot;
  const entries: PlainObject = {};
  for (const key of [...keysOf(snapshot)].sort()) {
    const texts = layers.map((layer) => shown(layer.entries.get(key)?.text ?? ''));
    setOwn(entries, shown(key), {
      layer_values: texts,
      final_value: texts.findLast((text) => text !== '') ?? '',
    });
  }
  return { entries, layers: layers.map(({ name }) => name) };
}
