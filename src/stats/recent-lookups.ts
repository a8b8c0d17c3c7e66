// Which statistics were looked up by their names, which is what costs time in a busy server.

/** Names that are remembered; the oldest is forgotten first. */
const CAPACITY = 100;

export class RecentLookups {
  /** Since the start, or since they were cleared. */
  total = 0;
  readonly #counts = new Map<string, number>();
  #isOn = false;

  get isOn(): boolean {
    return this.#isOn;
  }

  note(name: string): void {
    this.total++;
    if (!this.#isOn) return;
    const count = (this.#counts.get(name) ?? 0) + 1;
    // The order of a map is that of insertion: the latest is last.
    this.#counts.delete(name);
    this.#counts.set(name, count);
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > CAPACITY && oldest !== undefined) this.#counts.delete(oldest);
  }

  enable(): void {
    this.#isOn = true;
  }

  /** The names are forgotten, the total is not. */
  disable(): void {
    this.#isOn = false;
    this.#counts.clear();
  }

  clear(): void {
    this.total = 0;
    this.#counts.clear();
  }

  /** Names and how often each was looked up, the latest first. */
  list(): readonly (readonly [name: string, count: number])[] {
    return [...this.#counts].reverse();
  }
}
