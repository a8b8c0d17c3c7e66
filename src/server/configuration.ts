// From the command line to a compiled configuration, with all that is wrong said at once.
import type { envoy_config_bootstrap_v3_Bootstrap as Bootstrap } from '../../build/messages.gen.js';
import type { Options } from '../options/parse.js';
import { formatPath, parsePath } from '../config/issues/field-path.js';
import { formatIssue, inDocumentOrder, type Issue } from '../config/issues/issue.js';
import { loadBootstrap, type LoadedBootstrap } from '../config/load.js';
import { countUnknownFields } from '../config/issues/unknown-fields.js';
import { countDeprecatedUses } from '../config/issues/deprecated-fields.js';
import { disableExtensions } from '../extensions/catalogue.js';
import { REGISTRY } from '../extensions/registry.js';
import type { Log } from '../logging/logger.js';
import { loadAddon } from '../native.js';
import { DEFAULT_PATTERN } from '../logging/pattern.js';
import { compileBootstrap } from '../plan/compile.js';
import type { CompiledRest, CompileOptions } from '../plan/compiled.js';
import { encodeUpdate } from '../plan/plan.gen.js';
import type { RuntimeValues } from '../plan/runtime/runtime.js';
import {
  takeSnapshot,
  valuesOf,
  type RuntimeSnapshot,
  type RuntimeSource,
} from '../runtime/snapshot.js';
import { localAddress } from '../base/local-address.js';
import { FirstUpdate } from './first-update.js';
import { readSettings, type ServerSettings } from './settings.js';
import { StartError } from './start-error.js';

export interface Configuration {
  readonly bootstrap: Bootstrap;
  readonly compiled: CompiledRest;
  readonly firstUpdate: FirstUpdate;
  readonly settings: ServerSettings;
  readonly runtimeSource: RuntimeSource;
  /** What `compiled` was compiled with. */
  readonly runtime: RuntimeSnapshot;
  /** Fields that nobody knows, where --allow-unknown-static-fields lets them pass. */
  readonly unknownFieldCount: number;
  readonly deprecatedUseCount: number;
}

/** Throws a StartError whose message has a line for every error; logs what is read, and doubtful. */
export function readConfiguration(options: Options, log: Log): Configuration {
  if (options.configPath === '' && options.configYaml === '') {
    throw new StartError('At least one of --config-path or --config-yaml should be non-empty');
  }
  warnOfOptions(options, log);
  const loaded = loadBootstrap(
    {
      ...(options.configPath !== '' && { path: options.configPath }),
      ...(options.configYaml !== '' && { inlineYaml: options.configYaml }),
    },
    {
      unknownFields: options.allowUnknownStaticFields ? 'warning' : 'error',
      refusesV2: options.bootstrapVersion === 3,
    },
  );
  const bootstrap = loaded.partial;
  if (!bootstrap) throw new StartError(linesOf(loaded.issues, 'error').join('\n'));
  const runtimeSource: RuntimeSource = {
    bootstrap,
    serviceCluster: options.serviceCluster || (bootstrap.node?.cluster ?? ''),
  };
  const runtime = takeSnapshot(runtimeSource);
  for (const fault of runtime.faults) log.debug('runtime', fault);
  const { update, ...compiled } = compileBootstrap(bootstrap, {
    ...compileOptions(options, valuesOf(runtime)),
    checkTls: (context) => loadAddon().checkTls(encodeUpdate({ tls_contexts: [context] })),
    hasCoding: (coding) => loadAddon().hasCoding(coding),
  });
  const settingIssues: Issue[] = [];
  const startIssues: Issue[] = [];
  const settings = readSettings(bootstrap, options.fixedTags, settingIssues, startIssues);
  const issues = allIssues(loaded, [
    ...settingIssues,
    ...compiled.issues,
    ...(options.mode === 'validate' ? [] : [...startIssues, ...compiled.startIssues]),
  ]);
  const errors = linesOf(issues, 'error');
  if (settings.logFormat !== undefined && options.logFormat !== DEFAULT_PATTERN) {
    errors.push(
      'application_log_config.log_format: --log-format is given as well; expected one of them',
    );
  }
  if (errors.length > 0) throw new StartError(errors.join('\n'));
  const told = options.skipDeprecatedLogs
    ? issues.filter(({ code }) => code !== 'deprecated_field')
    : issues;
  for (const warning of linesOf(told, 'warning')) log.warn('config', warning);
  for (const { path, from, to } of loaded.rewrites) {
    log.debug('config', `upgraded from v2: ${path === '' ? '' : `${path}: `}${from} -> ${to}`);
  }
  const { clusters = [], listeners = [] } = update;
  const { secrets = [] } = bootstrap.static_resources ?? {};
  for (const what of [
    'tracing configuration',
    `${secrets.length} static secret(s)`,
    `${clusters.length} cluster(s)`,
    `${listeners.length} listener(s)`,
    'stats configuration',
  ]) {
    log.info('config', `loading ${what}`);
  }
  const unknownFieldCount = countUnknownFields(issues);
  const deprecatedUseCount = countDeprecatedUses(issues);
  const firstUpdate = new FirstUpdate(update);
  return {
    bootstrap,
    compiled,
    firstUpdate,
    settings,
    runtimeSource,
    runtime,
    unknownFieldCount,
    deprecatedUseCount,
  };
}

/** What loading and compiling found wrong, in the order of the text. */
function allIssues(loaded: LoadedBootstrap, found: readonly Issue[]): Issue[] {
  const errors = loaded.issues.filter(({ severity }) => severity === 'error');
  const broken = new Set(errors.map(({ path }) => path));
  const above = new Set(errors.flatMap(({ path }) => prefixesOf(path)));
  // What is wrong above or below a broken value may only follow from it.
  const own = found.filter(
    ({ path }) => !above.has(path) && !prefixesOf(path).some((prefix) => broken.has(prefix)),
  );
  const placed = own.map((issue): Issue => {
    const position = issue.position ?? loaded.locate(issue.path);
    const path = issue.related?.path;
    return {
      ...issue,
      ...(position && { position }),
      ...(path !== undefined && { related: { path, position: loaded.locate(path) } }),
    };
  });
  return inDocumentOrder([...loaded.issues, ...placed], loaded.files);
}

/** A path, and all that lead to it. */
function prefixesOf(path: string): string[] {
  const segments = parsePath(path);
  return segments.map((_, index) => formatPath(segments.slice(0, index + 1)));
}

/** What is doubtful in the command line itself. */
function warnOfOptions(options: Options, log: Log): void {
  if (options.allowUnknownFields) {
    log.warn(
      'config',
      '--allow-unknown-fields is deprecated, use --allow-unknown-static-fields instead.',
    );
  }
  if (options.cpusetThreads && options.concurrency !== undefined) {
    log.warn(
      'config',
      'Both --concurrency and --cpuset-threads options are set; not applying --cpuset-threads.',
    );
  }
  const { outcomes } = disableExtensions(REGISTRY, options.disabledExtensions);
  for (const { isDisabled, message } of outcomes) {
    log.write(isDisabled ? 'info' : 'warning', 'misc', message);
  }
}

/** What the command line says of how a bootstrap is compiled. */
function compileOptions(options: Options, runtime: RuntimeValues): CompileOptions {
  return {
    runtime,
    serviceCluster: options.serviceCluster,
    serviceNode: options.serviceNode,
    serviceZone: options.serviceZone,
    localAddress: localAddress(options.localAddressIpVersion),
    extensions: disableExtensions(REGISTRY, options.disabledExtensions).registry,
  };
}

function linesOf(issues: readonly Issue[], severity: Issue['severity']): string[] {
  return issues.filter((issue) => issue.severity === severity).map(formatIssue);
}
