// Where credentials of AWS come from, in the order in which they are asked.
import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type {
  envoy_config_core_v3_DataSource as DataSource,
  envoy_extensions_common_aws_v3_AssumeRoleCredentialProvider as AssumeRole,
  envoy_extensions_common_aws_v3_AssumeRoleWithWebIdentityCredentialProvider as WebIdentity,
  envoy_extensions_common_aws_v3_AwsCredentialProvider as Provider,
  envoy_extensions_common_aws_v3_IAMRolesAnywhereCredentialProvider as Anywhere,
} from '../../../build/messages.gen.js';
import { readFile, readTextSource } from '../message/data-source.js';
import { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { AwsCredentials } from '../plan.gen.js';

/** Those that are asked over HTTP while the server runs. */
export type AwsProvider =
  | { readonly kind: 'container'; readonly uri: string }
  | { readonly kind: 'instance' }
  | {
      readonly kind: 'web-identity';
      readonly region: string;
      readonly roleArn: string;
      readonly sessionName: string;
      /** As it is now; undefined: nobody can read it. */
      readonly token: () => string | undefined;
    }
  | {
      readonly kind: 'roles-anywhere';
      readonly region: string;
      readonly roleArn: string;
      readonly profileArn: string;
      readonly trustAnchorArn: string;
      readonly sessionName: string;
      readonly durationS: number;
      /** As it is now, in PEM; undefined: nobody can read it. */
      readonly identity: () =>
        | {
            readonly certificate: string;
            readonly chain: string | undefined;
            readonly key: string;
          }
        | undefined;
    }
  | {
      readonly kind: 'assume-role';
      readonly region: string;
      readonly roleArn: string;
      readonly sessionName: string;
      readonly externalId: string;
      /** 0: as long as the service likes. */
      readonly durationS: number;
      /** Who asks for the role. */
      readonly chain: AwsChain;
    };

export interface AwsChain {
  /** Set: nobody need be asked. */
  readonly credentials?: AwsCredentials;
  readonly providers: readonly AwsProvider[];
}

const PACKAGE = 'envoy.extensions.common.aws.v3';
const PROVIDER = supportedFields<Provider>(`${PACKAGE}.AwsCredentialProvider`, [
  'assume_role_with_web_identity_provider',
  'inline_credential',
  'credentials_file_provider',
  'custom_credential_provider_chain',
  'container_credential_provider',
  'environment_credential_provider',
  'instance_profile_credential_provider',
  'assume_role_credential_provider',
  'iam_roles_anywhere_credential_provider',
  'config_credential_provider',
]);
const ANYWHERE = supportedFields<Anywhere>(`${PACKAGE}.IAMRolesAnywhereCredentialProvider`, [
  'role_arn',
  'certificate',
  'certificate_chain',
  'private_key',
  'trust_anchor_arn',
  'profile_arn',
  'role_session_name',
  'session_duration',
]);
const ASSUME = supportedFields<AssumeRole>(`${PACKAGE}.AssumeRoleCredentialProvider`, [
  'role_arn',
  'role_session_name',
  'external_id',
  'session_duration',
  'credential_provider',
]);

const DEFAULT_DURATION_MS = 3_600_000;
const CONTAINER = 'http://169.254.170.2:80';

/** What statistics call the place that a provider asks. */
export function placeOf(provider: AwsProvider): string {
  if (provider.kind === 'container') return 'ecs_task_metadata_server_internal';
  if (provider.kind === 'instance') return 'ec2_instance_metadata_server_internal';
  if (provider.kind === 'roles-anywhere') return `rolesanywhere-${provider.region}`;
  return `sts_token_service_internal-${provider.region}`;
}

export function compileAwsChain(
  config: Provider | undefined,
  region: string,
  place: Place,
): AwsChain {
  if (config) refuseOtherFields(place, config, PROVIDER);
  if (config?.inline_credential) return { credentials: config.inline_credential, providers: [] };
  const isCustom = config?.custom_credential_provider_chain ?? false;
  const has = (field: keyof Provider): boolean => !isCustom || config?.[field] !== undefined;
  if (has('environment_credential_provider')) {
    const credentials = fromEnvironment();
    if (credentials) return { credentials, providers: [] };
  }
  if (has('credentials_file_provider')) {
    const file = config?.credentials_file_provider;
    const source = file?.credentials_data_source;
    const text = source
      ? readTextSource(source, place.field('credentials_file_provider'))
      : fromDefaultFile(place);
    const credentials = text === undefined ? undefined : fromFile(text, file?.profile);
    if (credentials) return { credentials, providers: [] };
  }
  const providers: AwsProvider[] = [];
  const role = config?.assume_role_credential_provider;
  if (role) {
    providers.push(compileRole(role, region, place.field('assume_role_credential_provider')));
  }
  const anywhere = config?.iam_roles_anywhere_credential_provider;
  if (anywhere) {
    const at = place.field('iam_roles_anywhere_credential_provider');
    providers.push(compileAnywhere(anywhere, region, at));
  }
  if (config?.config_credential_provider) {
    place
      .field('config_credential_provider')
      .warn('has no effect: the real server does nothing with it either');
  }
  if (has('assume_role_with_web_identity_provider')) {
    providers.push(...webIdentity(config?.assume_role_with_web_identity_provider ?? {}, region));
  }
  if (has('container_credential_provider')) providers.push(...container());
  const isInstanceOff = process.env.AWS_EC2_METADATA_DISABLED === 'true';
  if (has('instance_profile_credential_provider') && !isInstanceOff) {
    providers.push({ kind: 'instance' });
  }
  return { providers };
}

/** Who asks for a role has none by a role itself. */
function compileRole(config: AssumeRole, region: string, place: Place): AwsProvider {
  refuseOtherFields(place, config, ASSUME);
  const { assume_role_credential_provider: _, ...own } = config.credential_provider ?? {};
  return {
    kind: 'assume-role',
    region,
    roleArn: config.role_arn ?? '',
    sessionName: config.role_session_name || sessionName(),
    externalId: config.external_id ?? '',
    durationS: Math.floor((config.session_duration ?? 0) / 1000),
    chain: compileAwsChain(
      config.credential_provider && own,
      region,
      place.field('credential_provider'),
    ),
  };
}

/** What its files say is read each time. */
function compileAnywhere(config: Anywhere, region: string, place: Place): AwsProvider {
  refuseOtherFields(place, config, ANYWHERE);
  const read = (field: 'certificate' | 'certificate_chain' | 'private_key', at: Place) => {
    const source = config[field];
    return source && readTextSource(source, at.field(field));
  };
  // Files that are not there are told of when the configuration is read.
  for (const field of ['certificate', 'certificate_chain', 'private_key'] as const) {
    read(field, place);
  }
  return {
    kind: 'roles-anywhere',
    region,
    roleArn: config.role_arn ?? '',
    profileArn: config.profile_arn ?? '',
    trustAnchorArn: config.trust_anchor_arn ?? '',
    sessionName: config.role_session_name ?? '',
    durationS: Math.floor((config.session_duration ?? DEFAULT_DURATION_MS) / 1000),
    identity: () => {
      const nowhere = Place.root([]);
      const certificate = read('certificate', nowhere);
      const key = read('private_key', nowhere);
      if (certificate === undefined || key === undefined) return undefined;
      return { certificate, chain: read('certificate_chain', nowhere), key };
    },
  };
}

function webIdentity(config: WebIdentity, region: string): AwsProvider[] {
  const file = process.env.AWS_WEB_IDENTITY_TOKEN_FILE;
  const source: DataSource | undefined =
    config.web_identity_token_data_source ?? (file ? { filename: file } : undefined);
  const roleArn = config.role_arn || process.env.AWS_ROLE_ARN;
  if (!source || !roleArn) return [];
  const named = config.role_session_name || process.env.AWS_ROLE_SESSION_NAME || sessionName();
  return [
    {
      kind: 'web-identity',
      region,
      roleArn,
      sessionName: named,
      token: () => readTextSource(source, Place.root([])),
    },
  ];
}

function container(): AwsProvider[] {
  const relative = process.env.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI;
  const full = process.env.AWS_CONTAINER_CREDENTIALS_FULL_URI;
  const uri = relative ? CONTAINER + relative : full;
  return uri ? [{ kind: 'container', uri }] : [];
}

const sessionName = (): string => String(Date.now() * 1_000_000);

function fromEnvironment(): AwsCredentials | undefined {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = process.env;
  if (!id || !secret) return undefined;
  return {
    access_key_id: id,
    secret_access_key: secret,
    session_token: process.env.AWS_SESSION_TOKEN,
  };
}

function fromDefaultFile(place: Place): string | undefined {
  const path = process.env.AWS_SHARED_CREDENTIALS_FILE || join(homedir(), '.aws', 'credentials');
  if (!statSync(path, { throwIfNoEntry: false })) return undefined;
  const bytes = readFile(path, place);
  return bytes && Buffer.from(bytes).toString();
}

/** Of the profile that is meant, of an INI file. */
function fromFile(text: string, profile = ''): AwsCredentials | undefined {
  const wanted = profile || process.env.AWS_PROFILE || 'default';
  const values = new Map<string, string>();
  let current = '';
  for (const line of text.split(/\r?\n/)) {
    const section = /^\s*\[([^\]]*)\]/.exec(line);
    if (section) current = (section[1] ?? '').trim();
    const [, key = '', value = ''] = /^\s*([^=#;]+?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (current === wanted && key !== '') values.set(key.toLowerCase(), value);
  }
  const id = values.get('aws_access_key_id');
  const secret = values.get('aws_secret_access_key');
  if (!id || !secret) return undefined;
  return {
    access_key_id: id,
    secret_access_key: secret,
    session_token: values.get('aws_session_token'),
  };
}
