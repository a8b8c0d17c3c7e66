// The bootstrap's stats_sinks: where statistics are sent.
import type { envoy_config_bootstrap_v3_Bootstrap as Bootstrap } from '../../../build/messages.gen.js';
import { findExtension, type CompileContext } from '../extension.js';
import type { SinkPlan } from '../extension-plans.js';
import type { Place } from '../message/place.js';

export function compileStatsSinks(
  bootstrap: Bootstrap,
  place: Place,
  context: CompileContext,
): SinkPlan[] {
  return (bootstrap.stats_sinks ?? []).flatMap((sink, index) => {
    const at = place.index(index);
    const extension = findExtension(context, 'statSinks', sink, at);
    if (!extension || !sink.typed_config) return [];
    const plan = extension.compile(sink.typed_config, at.field('typed_config'), context);
    return plan ?? [];
  });
}
