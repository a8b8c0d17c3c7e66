// envoy.resource_monitors.injected_resource: a pressure that somebody writes to a file, for tests.
import type { envoy_extensions_resource_monitors_injected_resource_v3_InjectedResourceConfig as InjectedResourceConfig } from '../../../build/messages.gen.js';
import { hasFolder } from '../../base/is-folder.js';
import { defineExtension } from '../../plan/extension.js';
import type { MonitorPlan } from '../../plan/extension-plans.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<InjectedResourceConfig>(
  'envoy.extensions.resource_monitors.injected_resource.v3.InjectedResourceConfig',
  ['filename'],
);

export const injectedResource = defineExtension<InjectedResourceConfig, MonitorPlan | undefined>({
  name: 'envoy.resource_monitors.injected_resource',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    const { filename: file = '' } = config;
    if (file !== '' && !file.includes('/')) {
      place
        .field('filename')
        .error(`invalid file path ${file}`, { expected: 'a path with a folder' });
      return undefined;
    }
    if (file !== '' && !hasFolder(file)) {
      const why = 'No such file or directory';
      place.field('filename').error(`unable to add filesystem watch for file ${file}: ${why}`);
      return undefined;
    }
    return { kind: 'injected', file };
  },
});
