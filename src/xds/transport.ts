// A way by which resources come.

export interface Transport {
  /** `onFirst`: once, when the first update was taken or refused, or is not waited for any longer. */
  start(onFirst: () => void): void;
  stop(): void;
  /** One name more to be followed; absent: it has to be made anew for that. */
  want?(name: string): void;
  /** Beside what it is there for; `isOnce`: not again while it is asked for. Absent: that is not to be had. */
  ask?(name: string, isOnce: boolean): void;
  /** Takes what is there once more; does nothing where it is told of all that changes. */
  refresh(): void;
}
