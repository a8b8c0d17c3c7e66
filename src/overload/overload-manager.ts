// The overload manager: reads its resource monitors at intervals, and tells the data plane how far its
// actions and load shed points go whenever that has changed.
import { monotonicMs } from '../base/clock.js';
import { startInterval } from '../base/timers.js';
import {
  SHRINK_HEAP_ACTION,
  type OverloadPlan,
  type ShedPlan,
  type TriggerPlan,
} from '../plan/bootstrap/overload.js';
import {
  OverloadLevel_Subject as Subject,
  type OverloadState,
  type Update,
} from '../plan/plan.gen.js';
import type { ControlStats } from '../stats/control-stats.js';
import { pressureOf, type PressureHost, type ReadPressure } from './pressure.js';

export interface OverloadHost extends PressureHost {
  readonly stats: Pick<ControlStats, 'count' | 'setGauge' | 'record'>;
  apply(update: Update): void;
  log(level: 'debug' | 'info', message: string): void;
}

interface Monitor {
  readonly name: string;
  readonly read: ReadPressure;
}

interface Shed extends ShedPlan {
  readonly isAction: boolean;
  /** How far each of its triggers goes, 0 to 1. */
  readonly levels: number[];
  /** That of the one that goes farthest. */
  level: number;
}

export class OverloadManager {
  readonly #plan: OverloadPlan;
  readonly #host: OverloadHost;
  readonly #monitors: readonly Monitor[];
  readonly #sheds: readonly Shed[];
  /** By monitor: what was read last. */
  readonly #pressures = new Map<string, number>();
  #timers: readonly NodeJS.Timeout[] = [];
  #lastMs: number | undefined;

  /** Throws where a monitor's resource is not on this machine; its name is in the message. */
  constructor(plan: OverloadPlan, host: OverloadHost) {
    this.#plan = plan;
    this.#host = host;
    this.#monitors = plan.monitors.flatMap(({ name, monitor }) => {
      const read = readerOf(name, () => pressureOf(monitor, host));
      return read ? [{ name, read }] : [];
    });
    this.#sheds = [
      ...plan.actions.map((action) => shedOf(action, true)),
      ...plan.points.map((point) => shedOf(point, false)),
    ];
    const connections = plan.monitors.find(({ monitor }) => monitor.kind === 'connections');
    host.apply({
      overload_manager: {
        monitors: this.#monitors.map(({ name }) => name),
        connection_monitor: connections?.name,
        actions: plan.actions.map(({ name }) => name),
        points: plan.points.map(({ name, subject }) => ({ name, level: { subject } })),
        min_account_power: plan.minAccountPower,
      },
    });
    // They are there before anything has happened.
    for (const shed of this.#sheds) this.#show(shed, 0);
  }

  start(): void {
    const refresh = startInterval(() => this.refresh(), this.#plan.refreshIntervalMs);
    const shrink = this.#sheds.find(({ name }) => name === SHRINK_HEAP_ACTION);
    this.#timers = shrink
      ? [refresh, startInterval(() => this.#shrink(shrink), this.#plan.shrinkIntervalMs)]
      : [refresh];
    this.refresh();
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
    for (const { read } of this.#monitors) read.close?.();
  }

  /** Reads all monitors once. */
  refresh(): void {
    const { stats } = this.#host;
    const nowMs = monotonicMs();
    if (this.#lastMs !== undefined)
      stats.record('overload.refresh_interval_delay', Math.round(nowMs - this.#lastMs));
    this.#lastMs = nowMs;
    let hasChanged = false;
    for (const monitor of this.#monitors) {
      if (!this.#read(monitor)) continue;
      for (const shed of this.#sheds) hasChanged = this.#judge(shed, monitor.name) || hasChanged;
    }
    if (hasChanged) this.#host.apply({ overload: this.#state() });
  }

  /** False: what was known before still holds. */
  #read({ name, read }: Monitor): boolean {
    const { stats } = this.#host;
    try {
      const pressure = read();
      this.#pressures.set(name, pressure);
      stats.setGauge(`overload.${name}.pressure`, Math.max(0, Math.trunc(pressure * 100)));
      return true;
    } catch (error) {
      stats.count(`overload.${name}.failed_updates`);
      const why = error instanceof Error ? error.message : String(error);
      this.#host.log('info', `Failed to update resource ${name}: ${why}`);
      return false;
    }
  }

  /** Whether it goes another way than before the monitor was read. */
  #judge(shed: Shed, monitor: string): boolean {
    const at = shed.triggers.findIndex((trigger) => trigger.monitor === monitor);
    const trigger = shed.triggers[at];
    if (!trigger) return false;
    const triggered = levelOf(trigger, this.#pressures);
    if (triggered === shed.levels[at]) return false;
    shed.levels[at] = triggered;
    const was = shed.level;
    shed.level = Math.max(...shed.levels);
    // As the real server: of an action is shown what its latest trigger says, whatever others do.
    this.#show(shed, shed.isAction ? triggered : shed.level);
    if (shed.isAction && (was === 1) !== (shed.level === 1)) {
      const now = shed.level === 1 ? 'saturated' : 'scaling';
      this.#host.log('debug', `Overload action ${shed.name} became ${now}`);
    }
    return was !== shed.level;
  }

  #show({ name, isAction }: Shed, level: number): void {
    const { stats } = this.#host;
    // As the real server: it reckons with fewer digits, and cuts the rest off.
    const percent = Math.trunc(Math.fround(Math.fround(level) * 100));
    stats.setGauge(`overload.${name}.scale_percent`, percent);
    if (isAction) stats.setGauge(`overload.${name}.active`, level === 1 ? 1 : 0);
  }

  #state(): OverloadState {
    return {
      levels: this.#sheds
        .filter(({ level, subject }) => level > 0 && subject !== Subject.NOBODY)
        .map(({ level, subject }) => ({ subject, millionths: Math.round(level * 1e6) })),
      timer_minimums: this.#plan.timerMinimums,
    };
  }

  #shrink(action: Shed): void {
    if (action.level < 1) return;
    this.#host.apply({ shrink_heap: true });
    this.#host.stats.count(`overload.${action.name}.shrink_count`);
  }
}

function shedOf(plan: ShedPlan, isAction: boolean): Shed {
  return { ...plan, isAction, levels: plan.triggers.map(() => 0), level: 0 };
}

function readerOf(name: string, make: () => ReadPressure | undefined): ReadPressure | undefined {
  try {
    return make();
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** 0 to 1. */
export function levelOf(
  { monitor, from, to }: TriggerPlan,
  pressures: ReadonlyMap<string, number>,
): number {
  const pressure = pressures.get(monitor);
  if (pressure === undefined) return 0;
  if (pressure >= to) return 1;
  return pressure <= from ? 0 : (pressure - from) / (to - from);
}
