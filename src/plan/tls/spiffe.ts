// envoy.tls.cert_validator.spiffe: peers are verified by the authorities of the trust domain that their
// certificate names, from the configuration or from a file that has all of them.
import type {
  envoy_extensions_transport_sockets_tls_v3_SPIFFECertValidatorConfig as Config,
  envoy_extensions_transport_sockets_tls_v3_SPIFFECertValidatorConfig_TrustDomain as DomainMessage,
} from '../../../build/messages.gen.js';
import { crypto } from '../../base/late-modules.js';
import { readDataSource } from '../message/data-source.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { SpiffeTrust, SpiffeTrustDomain } from '../plan.gen.js';
import type { PemFile } from '../service-plan.js';
import { pathOf } from './certificates.js';
import { certificatesIn } from './pem.js';

export const SPIFFE_TYPE = 'envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig';
const CONFIG = supportedFields<Config>(SPIFFE_TYPE, ['trust_domains', 'trust_bundles']);
const DOMAIN = supportedFields<DomainMessage>(`${SPIFFE_TYPE}.TrustDomain`, [
  'name',
  'trust_bundle',
  'workload_trust_domain',
]);
/** What a key of a bundle is for that verifies X.509 certificates. */
const X509_USE = 'x509-svid';

export interface SpiffePlan {
  readonly trust: SpiffeTrust;
  /** As /certs shows them. */
  readonly authorities: readonly PemFile[];
}

/** Undefined after an error. */
export function compileSpiffe(config: Config, place: Place): SpiffePlan | undefined {
  refuseOtherFields(place, config, CONFIG);
  if (config.trust_bundles) {
    const at = place.field('trust_bundles');
    const bytes = readDataSource(config.trust_bundles, at);
    const domains = bytes && readBundles(Buffer.from(bytes).toString(), at);
    return domains && withFiles(domains, '');
  }
  const seen = new Set<string>();
  const domains = (config.trust_domains ?? []).map((message, index) => {
    const at = place.field('trust_domains').index(index);
    refuseOtherFields(at, message, DOMAIN);
    const { name = '', workload_trust_domain: workload = '' } = message;
    if (seen.has(`${name}\0${workload}`)) {
      at.error(`Multiple trust bundles are given for one trust domain for ${name}`);
    }
    seen.add(`${name}\0${workload}`);
    const authorities = readDataSource(message.trust_bundle, at.field('trust_bundle'));
    return authorities && { name, authorities, workload };
  });
  const found = domains.filter((domain) => domain !== undefined);
  if (found.length < domains.length) return undefined;
  // The real server calls all of them by the last one's path.
  const last = config.trust_domains?.at(-1);
  return withFiles(found, last ? `${last.name ?? ''}: ${pathOf(last.trust_bundle)}` : '');
}

function withFiles(domains: readonly SpiffeTrustDomain[], path: string): SpiffePlan {
  const all = domains.map(({ authorities = [] }) => Buffer.from(authorities).toString()).join('\n');
  return { trust: { domains }, authorities: certificatesIn(all, path) };
}

/** A map of bundles by trust domain, each a set of keys (RFC 7517). Undefined after an error. */
function readBundles(text: string, place: Place): SpiffeTrustDomain[] | undefined {
  const map = parse(text);
  const bundles = Object.entries(field(map, 'trust_domains') ?? {});
  const wrong =
    map === undefined
      ? 'Invalid JSON found in SPIFFE bundle'
      : bundles.length === 0 && 'No trust domains found in SPIFFE bundle';
  if (wrong) {
    place.error(wrong, {
      expected: '{"trust_domains": {"example.org": {"keys": [{"use": "x509-svid", "x5c": […]}]}}}',
    });
    return undefined;
  }
  const domains = bundles.map(([name, bundle]) => {
    const authorities = readKeys(name, field(bundle, 'keys'));
    if (typeof authorities !== 'string') place.error(authorities.wrong);
    return typeof authorities === 'string'
      ? { name, authorities: Buffer.from(authorities) }
      : undefined;
  });
  const found = domains.filter((domain) => domain !== undefined);
  return found.length === domains.length ? found : undefined;
}

/** The certificates of a set of keys, in PEM. */
function readKeys(domain: string, keys: unknown): string | { readonly wrong: string } {
  if (!Array.isArray(keys) || keys.length === 0) {
    return { wrong: `No keys found in SPIFFE bundle for domain '${domain}'` };
  }
  let pem = '';
  for (const key of keys) {
    if (field(key, 'use') !== X509_USE) {
      return { wrong: `missing or invalid 'use' field found in cert for domain '${domain}'` };
    }
    const chain = field(key, 'x5c');
    if (!Array.isArray(chain) || chain.length === 0) {
      return { wrong: `missing or empty 'x5c' field found in keys for domain: '${domain}'` };
    }
    for (const der of chain) {
      if (!isCertificate(String(der))) {
        return { wrong: `Invalid x509 object in certs for domain '${domain}'` };
      }
      pem += toPem(String(der));
    }
  }
  return pem;
}

function isCertificate(der: string): boolean {
  try {
    return new (crypto().X509Certificate)(Buffer.from(der, 'base64')).raw.length > 0;
  } catch {
    return false;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const field = (value: unknown, name: string): unknown =>
  isObject(value) ? value[name] : undefined;

const toPem = (der: string): string =>
  `-----BEGIN CERTIFICATE-----\n${der.replace(/\s+/g, '').replace(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
