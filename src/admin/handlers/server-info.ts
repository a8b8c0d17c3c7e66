// GET /server_info: version, state, uptime, command line, node.
import type { Server } from '../../server/server.js';

/** Seconds, or with milliseconds where there are any. */
function duration(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${(ms / 1000).toFixed(3)}s`;
}

export function serverInfo(server: Server): string {
  const { options } = server;
  const uptime = duration(Math.floor((Date.now() - server.startedAt) / 1000) * 1000);
  const bootstrapNode = (server.bootstrap as { node?: Record<string, unknown> }).node ?? {};
  const locality = { ...(bootstrapNode.locality as object | undefined), ...(options.serviceZone === '' ? {} : { zone: options.serviceZone }) };
  const [revision = '', version = ''] = server.version().split('/');
  const [major = '0', minor = '0'] = version.split('.');
  const info = {
    version: server.version(),
    state: server.state(),
    uptime_current_epoch: uptime,
    uptime_all_epochs: uptime,
    hot_restart_version: 'disabled',
    command_line_options: {
      base_id: String(options.baseId),
      concurrency: server.concurrency,
      config_path: options.configPath,
      config_yaml: options.configYaml,
      allow_unknown_static_fields: false,
      admin_address_path: options.adminAddressPath,
      local_address_ip_version: options.localAddressIpVersion,
      log_level: options.logLevel,
      component_log_level: options.componentLogLevel,
      log_format: options.logFormat,
      log_path: options.logPath,
      service_cluster: options.serviceCluster,
      service_node: options.serviceNode,
      service_zone: options.serviceZone,
      file_flush_interval: duration(options.fileFlushIntervalMsec),
      drain_time: duration(options.drainTimeS * 1000),
      parent_shutdown_time: duration(options.parentShutdownTimeS * 1000),
      mode: options.mode === 'serve' ? 'Serve' : options.mode === 'validate' ? 'Validate' : 'InitOnly',
      disable_hot_restart: options.disableHotRestart,
      enable_mutex_tracing: false,
      restart_epoch: 0,
      cpuset_threads: false,
      reject_unknown_dynamic_fields: false,
      log_format_escaped: false,
      disabled_extensions: [],
      ignore_unknown_dynamic_fields: false,
      use_dynamic_base_id: options.useDynamicBaseId,
      base_id_path: '',
      drain_strategy: 'Gradual',
      enable_fine_grain_logging: false,
      socket_path: '@proxy_domain_socket',
      socket_mode: 0,
      enable_core_dump: false,
      stats_tag: options.statsTags.map(([name, value]) => `${name}:${value}`),
      skip_hot_restart_on_no_parent: false,
      skip_hot_restart_parent_stats: false,
      skip_deprecated_logs: false,
      file_flush_min_size: 0,
      log_stacktrace_single_entry: false,
    },
    node: {
      id: options.serviceNode || (bootstrapNode.id ?? ''),
      cluster: options.serviceCluster || (bootstrapNode.cluster ?? ''),
      ...(bootstrapNode.metadata === undefined ? {} : { metadata: bootstrapNode.metadata }),
      ...(Object.keys(locality).length === 0 ? {} : { locality: { region: '', zone: '', sub_zone: '', ...locality } }),
      user_agent_name: 'fairlead',
      user_agent_build_version: {
        version: { major_number: Number(major), minor_number: Number(minor), patch: 0 },
        metadata: { 'revision.sha': revision, 'revision.status': 'Clean', 'build.type': 'RELEASE', 'ssl.version': server.version().split('/').at(-1) },
      },
      extensions: [],
      client_features: [],
      listening_addresses: [],
      dynamic_parameters: {},
    },
    hot_restart_initializing: false,
  };
  return `${JSON.stringify(info, null, 1).replaceAll('<', '\\u003c').replaceAll('>', '\\u003e')}\n`;
}
