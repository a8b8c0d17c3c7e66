// Asks again and again, never so often that asking becomes a load, and not while nobody looks.

/** The share of the time that asking may take: a tenth. */
const REST_PER_WORK = 10;

/** Calls `turn` at least `everyMs` apart, at once when the page is looked at again. */
export function poll(
  everyMs: number,
  turn: () => Promise<void>,
  failed: (error: unknown) => void,
): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isRunning = false;
  const run = async (): Promise<void> => {
    clearTimeout(timer);
    if (isRunning || document.hidden) return;
    isRunning = true;
    const began = performance.now();
    try {
      await turn();
    } catch (error) {
      failed(error);
    }
    isRunning = false;
    timer = setTimeout(run, Math.max(everyMs, (performance.now() - began) * REST_PER_WORK));
  };
  document.addEventListener('visibilitychange', () => void run());
  void run();
}
