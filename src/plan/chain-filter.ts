/** A filter of the chain that a table's requests pass. */
export interface ChainFilter {
  readonly name: string;
  /** Its message's full name. */
  readonly type: string;
}
