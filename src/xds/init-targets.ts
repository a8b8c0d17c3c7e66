// What the start, or a listener that is to be put in place, waits for.

export class InitTargets {
  /** Of those that are waited for: how many go by that name. */
  readonly #names = new Map<string, number>();
  #waiters: (() => void)[] = [];

  get names(): readonly string[] {
    return [...this.#names.keys()];
  }

  /** What comes back is called when it has come; more than once does nothing. */
  add(name: string): () => void {
    this.#names.set(name, (this.#names.get(name) ?? 0) + 1);
    let isDone = false;
    return () => {
      if (isDone) return;
      isDone = true;
      const left = (this.#names.get(name) ?? 1) - 1;
      if (left > 0) this.#names.set(name, left);
      else this.#names.delete(name);
      if (this.#names.size > 0) return;
      const waiters = this.#waiters;
      this.#waiters = [];
      for (const tell of waiters) tell();
    };
  }

  /** Resolves when nothing is waited for: at once, where that is so. */
  async settled(): Promise<void> {
    while (this.#names.size > 0) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }
}
