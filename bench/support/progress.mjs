// One line that says how far a benchmark has come: rewritten on a terminal, printed once per step
// elsewhere.

export class Progress {
  #total;
  #done = 0;
  #startedMs = Date.now();
  #isTerminal = process.stderr.isTTY === true;

  /** @param {number} total how many steps there will be */
  constructor(total) {
    this.#total = total;
  }

  /** Says what begins now. */
  step(what) {
    ++this.#done;
    const elapsedMs = Date.now() - this.#startedMs;
    const left =
      this.#done > 1
        ? `, ${seconds((elapsedMs / (this.#done - 1)) * (this.#total - this.#done + 1))} left`
        : '';
    const line = `[${this.#done}/${this.#total}${left}] ${what}`;
    process.stderr.write(this.#isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
  }

  /** Something that should stay readable. */
  note(text) {
    process.stderr.write(`${this.#isTerminal ? '\r\x1b[K' : ''}${text}\n`);
  }

  end() {
    if (this.#isTerminal) process.stderr.write('\r\x1b[K');
  }
}

function seconds(ms) {
  return ms < 90_000 ? `${Math.ceil(ms / 1000)} s` : `${Math.ceil(ms / 60_000)} min`;
}
