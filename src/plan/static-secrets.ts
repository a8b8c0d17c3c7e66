// Secrets of the bootstrap, which transport sockets name.
import type {
  envoy_extensions_transport_sockets_tls_v3_SdsSecretConfig as SecretConfig,
  envoy_extensions_transport_sockets_tls_v3_Secret as Secret,
} from '../../build/messages.gen.js';
import { nearestName } from '../base/suggest.js';
import type { Place } from './message/place.js';

/** The kinds of secrets, and what the real server calls them. Each kind has names of its own. */
const KINDS = {
  tls_certificate: 'TlsCertificate',
  session_ticket_keys: 'TlsSessionTicketKeys',
  validation_context: 'CertificateValidationContext',
  generic_secret: 'GenericSecret',
} as const;

export type SecretKind = keyof typeof KINDS;

interface Found<K extends SecretKind> {
  readonly message: NonNullable<Secret[K]>;
  readonly place: Place;
}

export class StaticSecrets {
  readonly #secrets = new Map<string, { readonly secret: Secret; readonly place: Place }>();

  /** What is wrong with them goes to `place`. */
  constructor(secrets: readonly Secret[], place: Place) {
    for (const [index, secret] of secrets.entries()) {
      const at = place.index(index);
      const kind = kindOf(secret);
      if (!kind) {
        at.error('Secret type not implemented', { expected: Object.keys(KINDS).join(', ') });
        continue;
      }
      const { name = '' } = secret;
      const first = this.#secrets.get(`${kind} ${name}`);
      if (first) {
        const related = first.place.field('name');
        at.field('name').error(`Duplicate static ${KINDS[kind]} secret name ${name}`, { related });
      } else {
        this.#secrets.set(`${kind} ${name}`, { secret, place: at });
      }
    }
  }

  has(kind: SecretKind, { name = '' }: SecretConfig): boolean {
    return this.#secrets.has(`${kind} ${name}`);
  }

  /** The secret that is meant; undefined after an error. */
  find<K extends SecretKind>(kind: K, config: SecretConfig, place: Place): Found<K> | undefined {
    const { name = '' } = config;
    const found = this.#secrets.get(`${kind} ${name}`);
    const message = found?.secret[kind];
    if (found && message) return { message, place: found.place.field(kind) };
    place.field('name').error(`Unknown static ${KINDS[kind]} secret: ${name}`, {
      expected: `the name of one of static_resources.secrets with ${kind}`,
      suggestion: nearestName(name, this.#namesOf(kind)),
    });
    return undefined;
  }

  #namesOf(kind: SecretKind): string[] {
    const start = `${kind} `;
    return [...this.#secrets.keys()]
      .filter((key) => key.startsWith(start))
      .map((key) => key.slice(start.length));
  }
}

function kindOf(secret: Secret): SecretKind | undefined {
  return (Object.keys(KINDS) as SecretKind[]).find((field) => secret[field] !== undefined);
}
