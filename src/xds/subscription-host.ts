// What subscriptions share.
import type { Level } from '../logging/levels.js';
import type { ControlStats } from '../stats/control-stats.js';
import type { ReadOptions } from './resource-file.js';

export interface SubscriptionHost extends ReadOptions {
  readonly stats: ControlStats;
  readonly log: (level: Level, message: string) => void;
}
