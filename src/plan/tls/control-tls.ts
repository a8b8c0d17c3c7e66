// A cluster's TLS as connections of the control plane have it: by Node.
import {
  StringMatch_Kind,
  SubjectMatch_Kind,
  type SubjectMatch,
  type TlsContext,
} from '../plan.gen.js';
import type { SubjectTest, TlsVersion, UpstreamTlsPlan } from '../service-plan.js';
import type { TlsFiles } from '../tls-socket.js';

const VERSIONS: Readonly<Record<number, TlsVersion>> = {
  0x0301: 'TLSv1',
  0x0302: 'TLSv1.1',
  0x0303: 'TLSv1.2',
  0x0304: 'TLSv1.3',
};
const TYPES: Readonly<Partial<Record<SubjectMatch_Kind, SubjectTest['type']>>> = {
  [SubjectMatch_Kind.DNS]: 'DNS',
  [SubjectMatch_Kind.URI]: 'URI',
  [SubjectMatch_Kind.EMAIL]: 'EMAIL',
  [SubjectMatch_Kind.IP_ADDRESS]: 'IP_ADDRESS',
};
const HOW: Readonly<Partial<Record<StringMatch_Kind, SubjectTest['how']>>> = {
  [StringMatch_Kind.EXACT]: 'exact',
  [StringMatch_Kind.PREFIX]: 'prefix',
  [StringMatch_Kind.SUFFIX]: 'suffix',
  [StringMatch_Kind.CONTAINS]: 'contains',
};

export function controlTls(plan: TlsContext, files: TlsFiles): UpstreamTlsPlan {
  const { validation } = plan;
  const subjects = (validation?.subjects ?? []).map(testOf);
  const unsupported = whyNot(plan, subjects);
  const roots = validation?.trusted_ca;
  return {
    sni: plan.sni ?? '',
    ...(roots?.length && { roots: Buffer.from(roots) }),
    ...(validation?.crl?.length && { crl: Buffer.from(validation.crl) }),
    certificates: (plan.certificates ?? []).flatMap(({ key, password }, index) => {
      const chain = files.chains[index];
      if (!chain) return [];
      const passphrase = Buffer.from(password ?? new Uint8Array()).toString();
      return { chain, key: Buffer.from(key ?? new Uint8Array()), passphrase };
    }),
    minVersion: VERSIONS[plan.min_version ?? 0] ?? 'TLSv1.2',
    maxVersion: VERSIONS[plan.max_version ?? 0] ?? 'TLSv1.2',
    ...(plan.ciphers && { ciphers: plan.ciphers }),
    ...(plan.curves && { curves: plan.curves }),
    ...(plan.signature_algorithms && { signatures: plan.signature_algorithms }),
    // gRPC is HTTP/2, whatever else the hosts speak.
    alpn: ['h2'],
    subjects: subjects.filter((subject) => subject !== undefined),
    hashes: (validation?.certificate_hashes ?? []).map((hash) => Buffer.from(hash).toString('hex')),
    keyHashes: (validation?.key_hashes ?? []).map((hash) => Buffer.from(hash).toString('base64')),
    ...(unsupported !== undefined && { unsupported }),
  };
}

function testOf({ kind, match }: SubjectMatch): SubjectTest | undefined {
  const type = TYPES[kind ?? SubjectMatch_Kind.DNS];
  const how = HOW[match?.kind ?? StringMatch_Kind.EXACT];
  if (type === undefined || how === undefined) return undefined;
  return { type, how, value: match?.value ?? '', ignoreCase: match?.ignore_case ?? false };
}

function whyNot(
  plan: TlsContext,
  subjects: readonly (SubjectTest | undefined)[],
): string | undefined {
  if (subjects.includes(undefined)) return 'names of hosts by regular expressions or as OTHER_NAME';
  if (plan.certificates?.some(({ pkcs12 }) => pkcs12?.length)) return 'pkcs12';
  if (plan.sni_of_host) return 'auto_host_sni';
  if (plan.demands_sni_san) return 'auto_sni_san_validation';
  if (plan.validation?.spiffe) return 'trust domains of SPIFFE';
  if (plan.validation?.accepts_untrusted) return 'ACCEPT_UNTRUSTED';
  if (plan.validation?.allows_expired) return 'allow_expired_certificate';
  if (plan.validation?.only_leaf_crl) return 'only_verify_leaf_cert_crl';
  if (plan.validation?.max_depth !== undefined) return 'max_verify_depth';
  return undefined;
}
