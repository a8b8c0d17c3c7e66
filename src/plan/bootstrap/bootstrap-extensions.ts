// bootstrap_extensions: what a server has as a whole.
import type {
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  envoy_extensions_bootstrap_internal_listener_v3_InternalListener as InternalListener,
} from '../../../build/messages.gen.js';
import type { InternalListenersPlan } from '../extension.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

const INTERNAL = supportedFields<InternalListener>(
  'envoy.extensions.bootstrap.internal_listener.v3.InternalListener',
  ['buffer_size_kb'],
);

/** Undefined: there are no internal listeners. */
export function compileBootstrapExtensions(
  extensions: Bootstrap['bootstrap_extensions'],
  place: Place,
): InternalListenersPlan | undefined {
  let plan: InternalListenersPlan | undefined;
  (extensions ?? []).forEach(({ name = '', typed_config: config }, index) => {
    const at = place.index(index).field('typed_config');
    if (config?.$type !== INTERNAL.type) {
      at.error(
        `'${name}' (${config?.$type ?? ''}) is not supported yet as an extension of a bootstrap`,
        { expected: `envoy.bootstrap.internal_listener (${INTERNAL.type})` },
      );
      return;
    }
    const message = config as InternalListener;
    refuseOtherFields(at.within(INTERNAL.type), message, INTERNAL);
    const { buffer_size_kb: kb } = message;
    plan = kb === undefined ? {} : { bufferBytes: kb * 1024 };
  });
  return plan;
}
