// A listener as programs and the admin server see it. In a file of its own, as all that the library's types
// name: they need no others.
export interface ListenerStatus {
  readonly name: string;
  /** What its statistics call it ("127.0.0.1_10000"). */
  readonly statName: string;
  /** An IP address, the path of a pipe, or "envoy://name/" of an internal listener. */
  readonly address: string;
  /** The port that the kernel gave, 0 for a pipe. */
  readonly port: number;
  /** Of an internal one: its name as endpoints have it. */
  readonly internalListener?: string;
  /** Where it listens besides. */
  readonly moreAddresses?: readonly BoundAddress[];
}

export interface BoundAddress {
  readonly address: string;
  readonly port: number;
}
