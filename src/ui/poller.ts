// Asks again and again, never so often that asking becomes a load, and not while nobody looks.

/** The share of the time that asking may take: a tenth. */
const REST_PER_WORK = 10;

/** Calls `turn` at least `everyMs` apart, at once when the page is looked at again; what comes back ends it. */
export function poll(
  everyMs: number,
  turn: () => Promise<void>,
  failed: (error: unknown) => void,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isRunning = false;
  let isOver = false;
  const run = async (): Promise<void> => {
    clearTimeout(timer);
    if (isRunning || isOver || document.hidden) return;
    isRunning = true;
    const began = performance.now();
    try {
      await turn();
    } catch (error) {
      failed(error);
    }
    isRunning = false;
    if (isOver) return;
    timer = setTimeout(run, Math.max(everyMs, (performance.now() - began) * REST_PER_WORK));
  };
  const look = (): void => void run();
  document.addEventListener('visibilitychange', look);
  look();
  return () => {
    isOver = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', look);
  };
}
