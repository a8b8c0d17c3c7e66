// A way by which resources come.

export interface Transport {
  /** `onFirst`: once, when the first update was taken or refused, or is not waited for any longer. */
  start(onFirst: () => void): void;
  stop(): void;
  /** Takes what is there once more; does nothing where it is told of all that changes. */
  refresh(): void;
}
