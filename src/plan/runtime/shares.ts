// Shares of requests, and switches, that runtime keys may change.
import type {
  envoy_config_core_v3_RuntimeFeatureFlag as FeatureFlag,
  envoy_config_core_v3_RuntimeFractionalPercent as RuntimeFraction,
} from '../../../build/messages.gen.js';
import type { LiveNumber, Share } from '../plan.gen.js';
import type { RuntimeReads } from './runtime-reads.js';

export function compileShare(
  fraction: RuntimeFraction | undefined,
  { runtime }: { readonly runtime: RuntimeReads },
): Share | undefined {
  if (!fraction) return undefined;
  const { value, slot } = runtime.liveMillionths(fraction.runtime_key, fraction.default_value);
  return { millionths: value, slot };
}

/** 1: it is on, as it is where nothing is said. */
export function compileFlag(
  flag: FeatureFlag | undefined,
  { runtime }: { readonly runtime: RuntimeReads },
): LiveNumber {
  return runtime.liveFlag(flag?.runtime_key, flag?.default_value ?? true);
}
