// GET /server_info: version, state, uptime, command line, node.
import type {
  envoy_config_core_v3_Locality as Locality,
  envoy_config_core_v3_Node as Node,
} from '../../../build/messages.gen.js';
import { printMessage } from '../../config/print.js';
import { schema } from '../../config/schema/schema.js';
import { durationText, type OptionInfo, type OptionValue } from '../../options/option-info.js';
import { OPTION_LIST } from '../../options/options.js';
import type { Options } from '../../options/parse.js';
import { buildVersion, versionText } from '../../base/version.js';
import type { Endpoint } from '../endpoint.js';
import { extensionsJson, USER_AGENT } from '../agent.js';
import type { AdminHost } from '../host.js';
import { jsonReply } from '../http/http.js';

export function serverInfoEndpoints(host: AdminHost): Endpoint[] {
  return [
    {
      path: '/server_info',
      help: 'version, state, uptime, command line and node of this server',
      mutates: false,
      parameters: [],
      handle: () => jsonReply(serverInfo(host)),
    },
  ];
}

function serverInfo(host: AdminHost): object {
  return {
    version: versionText(),
    state: host.state(),
    uptime_current_epoch: wholeSeconds(host.uptimeMs()),
    uptime_all_epochs: wholeSeconds(host.uptimeOfAllEpochsMs()),
    hot_restart_version: host.hotRestartVersion,
    command_line_options: commandLine(host.options, host.concurrency),
    node: nodeJson(host.node, host.options),
    hot_restart_initializing: host.isHotRestartInitializing,
  };
}

const wholeSeconds = (ms: number): string => durationText(Math.floor(ms / 1000) * 1000);

function commandLine(options: Options, concurrency: number): object {
  const values: Readonly<Record<string, OptionValue>> = {
    ...optionsByName(options),
    concurrency,
    'socket-mode': options.socketPermission,
  };
  const shown = OPTION_LIST.filter((option) => option.shownAs !== null);
  return Object.fromEntries(
    shown.map((option) => [fieldOf(option), shownValue(option, values[option.name])]),
  );
}

const fieldOf = ({ name, shownAs }: OptionInfo): string => shownAs ?? name.replaceAll('-', '_');

const shownValue = ({ show }: OptionInfo, value: OptionValue): OptionValue =>
  show ? show(value) : value;

function optionsByName(options: Options): Record<string, OptionValue> {
  const entries = Object.entries(options).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    value as OptionValue,
  ]);
  return Object.fromEntries(entries) as Record<string, OptionValue>;
}

/** The bootstrap's node, with what the command line says instead. */
function nodeJson(node: Node, options: Options): object {
  const locality = localityJson(node.locality, options.serviceZone);
  return {
    id: options.serviceNode || (node.id ?? ''),
    cluster: options.serviceCluster || (node.cluster ?? ''),
    ...(node.metadata && { metadata: node.metadata }),
    ...(locality && { locality }),
    user_agent_name: node.user_agent_name || USER_AGENT,
    ...whatElseIsTold(node, options),
  };
}

const NOTHING_ELSE = { client_features: [], listening_addresses: [], dynamic_parameters: {} };

/** Of the program, and what the bootstrap has to say of it or besides. */
function whatElseIsTold(node: Node, options: Options): object {
  const { user_agent_build_version: version, extensions, ...rest } = node;
  const own = { user_agent_build_version: buildVersion(), extensions: extensionsJson(options) };
  const isPlain =
    !version && !extensions && Object.keys(NOTHING_ELSE).every((key) => !(key in rest));
  if (isPlain) return { ...own, ...NOTHING_ELSE };
  const types = schema();
  const type = types.getMessage('envoy.config.core.v3.Node');
  const printed = printMessage(types, type, { ...node }, SHOWN);
  return {
    ...own,
    ...(version && { user_agent_build_version: printed['user_agent_build_version'] }),
    ...(extensions && { extensions: [...(printed['extensions'] as object[]), ...own.extensions] }),
    ...Object.fromEntries(Object.keys(NOTHING_ELSE).map((key) => [key, printed[key]])),
  };
}

/** As the rest of this page. */
const SHOWN = { defaults: 'unset' } as const;

function localityJson(locality: Locality | undefined, serviceZone: string): object | undefined {
  if (!locality && serviceZone === '') return undefined;
  const { region = '', zone = '', sub_zone = '' } = locality ?? {};
  return { region, zone: serviceZone || zone, sub_zone };
}
