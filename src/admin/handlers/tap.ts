// POST /tap
import type { envoy_admin_v3_TapRequest as TapRequest } from '../../../build/messages.gen.js';
import { decodeMessage } from '../../config/decode.js';
import { yamlFormat } from '../../config/formats/yaml/yaml-format.js';
import { yamlError } from '../../config/formats/yaml/yaml-words.js';
import { isObject } from '../../config/values/objects.js';
import { schema } from '../../config/schema/schema.js';
import type { Issue } from '../../config/issues/issue.js';
import { validateMessage } from '../../config/validate.js';
import { Place } from '../../plan/message/place.js';
import type { RuntimeReads } from '../../plan/runtime/runtime-reads.js';
import { compileTap } from '../../plan/match/tap.js';
import { valuesOf } from '../../runtime/snapshot.js';
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';
import { badRequest } from '../http/http.js';

const TYPE = 'envoy.admin.v3.TapRequest';
/** Runtime values as they are now: slots that follow them are given out with the bootstrap only. */
function readsOf({ runtime }: AdminHost): Pick<RuntimeReads, 'liveMillionths' | 'numberAnew'> {
  const values = valuesOf(runtime.snapshot);
  return {
    liveMillionths: (key, share) => ({ value: values.millionths(key, share), slot: 0 }),
    numberAnew: (key, fallback) => values.number(key, fallback),
  };
}

/** Only where a tap is told by this server what to record. */
export function tapEndpoints(host: AdminHost): Endpoint[] {
  const { taps } = host;
  if (!taps.areAsked) return [];
  return [
    {
      path: '/tap',
      help: 'record requests: a tap configuration is the body, traces are the answer',
      mutates: true,
      parameters: [],
      handle: ({ body }) => {
        if (body === '') return badRequest('/tap requires a JSON/YAML body');
        const read = readRequest(body);
        if (typeof read === 'string') return badRequest(read);
        const { config_id: id = '', tap_config: config = {} } = read;
        if (!taps.has(id)) {
          return badRequest(`Unknown config id '${id}'. No extension has registered with this id.`);
        }
        if (taps.isTaken) {
          return badRequest('An attached /tap admin stream already exists. Detach it.');
        }
        const issues: Issue[] = [];
        const reads = readsOf(host);
        const place = Place.root(issues).reading(reads).field('tap_config');
        const plan = compileTap(config, place, reads);
        if (!plan || issues.some(isError)) return badRequest(textOf(issues));
        return {
          body: {
            isChunked: true,
            listen: (write, end) => taps.attach(id, plan, { write, end }),
          },
        };
      },
    },
  ];
}

/** A text says what is wrong. */
function readRequest(body: string): TapRequest | string {
  const read = yamlFormat.read(body);
  if (!read.ok) return yamlError(body, read.fault);
  if (!isObject(read.value)) return `Unable to convert YAML as JSON: ${body}`;
  const type = schema().getMessage(TYPE);
  const { message, issues, broken } = decodeMessage(schema(), type, read.value);
  const wrong = [...issues, ...validateMessage(schema(), type, message, broken)];
  return wrong.some(isError) ? textOf(wrong) : (message as TapRequest);
}

const isError = ({ severity }: Issue): boolean => severity === 'error';

const textOf = (issues: readonly Issue[]): string =>
  issues
    .filter(isError)
    .map(({ path, message, expected }) => {
      const what = path === '' ? message : `${path}: ${message}`;
      return expected === undefined ? what : `${what}; expected ${expected}`;
    })
    .join('\n');
