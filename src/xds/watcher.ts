// Who asks a control plane for resources of one type.
import type { Maybe } from '../base/after.js';
import type { Issue } from '../config/issues/issue.js';
import type { PlainObject } from '../config/values/objects.js';

/** A resource that has been decoded. */
export interface KnownResource {
  readonly name: string;
  readonly message: PlainObject;
  /** Its own; '' where only the update has one. */
  readonly version: string;
  /** Rules that it breaks, where those refuse it alone (own-faults). */
  readonly faults?: readonly Issue[];
  /** As Resource's of updates. */
  readonly madeUses?: number;
}

export interface Watcher {
  /** None: all that there are. */
  readonly names: readonly string[];
  /** Its only name is that of a collection. */
  readonly isCollection?: boolean | undefined;
  /** It is told only of updates that say something of such names. */
  readonly prefix?: string | undefined;
  /**
   * What is wrong with them. `removed`: names of those that are gone, where `resources` are those that have come or
   * have changed; undefined: of those that it asks for there are no others.
   */
  onUpdate(
    resources: readonly KnownResource[],
    version: string,
    removed?: readonly string[],
  ): Maybe<string | undefined>;
  /** The update could not be read, or somebody else has refused it: it is taken by nobody. */
  onRefused(why: string): void;
  /** What it asks for is not there, as the update of that version says, or as its time is over. */
  onAbsent(version: string): void;
  /** Of what was asked for beside that: these names have been answered; `removed`: those that are not there. */
  onAnswered?(names: readonly string[], removed: readonly string[]): void;
  /** The control plane cannot be reached. */
  onFailure(): void;
}
