// Static secrets: nothing refers to them yet but the configuration dump.
import type { envoy_extensions_transport_sockets_tls_v3_Secret as Secret } from '../../../build/messages.gen.js';
import type { Place } from '../message/place.js';

/** The kinds of secrets, and what the real server calls them. Each kind has names of its own. */
const KINDS = {
  tls_certificate: 'TlsCertificate',
  session_ticket_keys: 'TlsSessionTicketKeys',
  validation_context: 'CertificateValidationContext',
  generic_secret: 'GenericSecret',
} as const;

export function checkSecrets(secrets: readonly Secret[], place: Place): void {
  const seen = new Map<string, number>();
  for (const [index, secret] of secrets.entries()) {
    const at = place.index(index);
    const kind = findKind(secret);
    if (!kind) {
      at.error('Secret type not implemented', { expected: Object.keys(KINDS).join(', ') });
      continue;
    }
    const { name = '' } = secret;
    const first = seen.get(`${kind} ${name}`);
    if (first === undefined) {
      seen.set(`${kind} ${name}`, index);
    } else {
      const related = place.index(first).field('name');
      at.field('name').error(`Duplicate static ${kind} secret name ${name}`, { related });
    }
  }
}

function findKind(secret: Secret): string | undefined {
  const found = Object.entries(KINDS).find(
    ([field]) => secret[field as keyof typeof KINDS] !== undefined,
  );
  return found?.[1];
}
