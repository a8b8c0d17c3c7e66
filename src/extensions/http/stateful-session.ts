// envoy.filters.http.stateful_session
import type {
  envoy_extensions_filters_http_stateful_session_v3_StatefulSession as Message,
  envoy_extensions_filters_http_stateful_session_v3_StatefulSessionPerRoute as PerRoute,
  envoy_extensions_http_stateful_session_cookie_v3_CookieBasedSessionState as CookieState,
  envoy_extensions_http_stateful_session_envelope_v3_EnvelopeSessionState as EnvelopeState,
  envoy_extensions_http_stateful_session_header_v3_HeaderBasedSessionState as HeaderState,
  envoy_type_http_v3_Cookie as Cookie,
} from '../../../build/messages.gen.js';
import { defineHttpFilter } from '../../plan/extension.js';
import { wholeMs } from '../../plan/message/numbers.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { SessionCookie, StatefulSession } from '../../plan/plan.gen.js';

const PACKAGE = 'envoy.extensions.filters.http.stateful_session.v3';
const FIELDS = supportedFields<Message>(`${PACKAGE}.StatefulSession`, [
  'session_state',
  'strict',
  'stat_prefix',
  'status_on_strict_destination_not_found',
]);
const PER_ROUTE = supportedFields<PerRoute>(`${PACKAGE}.StatefulSessionPerRoute`, [
  'disabled',
  'stateful_session',
]);
const STATES = 'envoy.extensions.http.stateful_session';
const COOKIE_STATE = supportedFields<CookieState>(`${STATES}.cookie.v3.CookieBasedSessionState`, [
  'cookie',
]);
const HEADER_STATE = supportedFields<HeaderState>(`${STATES}.header.v3.HeaderBasedSessionState`, [
  'name',
]);
const ENVELOPE_STATE = supportedFields<EnvelopeState>(
  `${STATES}.envelope.v3.EnvelopeSessionState`,
  ['header'],
);
const NAMES: ReadonlyMap<string, string> = new Map([
  [COOKIE_STATE.type, 'envoy.http.stateful_session.cookie'],
  [HEADER_STATE.type, 'envoy.http.stateful_session.header'],
  [ENVELOPE_STATE.type, 'envoy.http.stateful_session.envelope'],
]);
const COOKIE = supportedFields<Cookie>('envoy.type.http.v3.Cookie', [
  'name',
  'ttl',
  'path',
  'attributes',
]);

export const statefulSession = defineHttpFilter<Message, PerRoute>({
  name: 'envoy.filters.http.stateful_session',
  type: FIELDS.type,
  compile: (config, place) => ({ stateful_session: compile(config, place) }),
  byRoute: {
    type: PER_ROUTE.type,
    compile(config, place) {
      refuseOtherFields(place, config, PER_ROUTE);
      if (config.disabled) return { stateful_session: { disabled: true } };
      const session = compile(config.stateful_session ?? {}, place.field('stateful_session'));
      return { stateful_session: { ...session, stat_prefix: '' } };
    },
  },
});

function compile(config: Message, place: Place): StatefulSession {
  refuseOtherFields(place, config, FIELDS);
  const at = place.field('session_state');
  const { strict } = config;
  return {
    strict,
    stat_prefix: config.stat_prefix,
    ...(strict && { strict_status: config.status_on_strict_destination_not_found }),
    ...compileState(config.session_state, at),
  };
}

/** The real server finds them by their names alone. */
function checkName(name: string, known: string, place: Place): void {
  if (name === known) return;
  place
    .field('name')
    .error(
      name === ''
        ? 'Provided name for static registration lookup was empty.'
        : `Didn't find a registered implementation for name: '${name}'`,
      { expected: known },
    );
}

function compileState(named: Message['session_state'], extension: Place): StatefulSession {
  const state = named?.typed_config;
  if (!state) return {};
  const place = extension.field('typed_config');
  const at = place.within(state.$type);
  const kind = NAMES.get(state.$type);
  if (kind) checkName(named.name ?? '', kind, extension);
  switch (state.$type) {
    case COOKIE_STATE.type: {
      refuseOtherFields(at, state, COOKIE_STATE);
      const { cookie = {} } = state as CookieState;
      return { cookie: compileCookie(cookie, at.field('cookie')) };
    }
    case HEADER_STATE.type: {
      refuseOtherFields(at, state, HEADER_STATE);
      const { name = '' } = state as HeaderState;
      if (name === '') at.error('Header name cannot be empty for header based stateful sessions');
      return { header: name.toLowerCase() };
    }
    case ENVELOPE_STATE.type: {
      refuseOtherFields(at, state, ENVELOPE_STATE);
      const { header = {} } = state as EnvelopeState;
      return { envelope_header: header.name?.toLowerCase() };
    }
    default:
      place.error(`the session state ${state.$type} is not supported yet`, {
        expected: `one of ${[COOKIE_STATE, HEADER_STATE, ENVELOPE_STATE].map(({ type }) => type).join(', ')}`,
      });
      return {};
  }
}

function compileCookie(cookie: Cookie, place: Place): SessionCookie {
  refuseOtherFields(place, cookie, COOKIE);
  const { name = '', attributes = [] } = cookie;
  if (name === '') {
    place.field('name').error('Cookie key cannot be empty for cookie based stateful sessions');
  }
  return {
    name,
    path: cookie.path,
    ttl_s: Math.floor(wholeMs(cookie.ttl, 0) / 1000),
    attributes: attributes
      .map(({ name: key = '', value = '' }) => (value === '' ? `; ${key}` : `; ${key}=${value}`))
      .join(''),
  };
}
