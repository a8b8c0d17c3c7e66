import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Child, ChildEvents } from '../../../src/restarter/child.js';
import { Supervisor, type SupervisorOptions } from '../../../src/restarter/supervisor.js';

const OPTIONS: SupervisorOptions = {
  readyTimeoutMs: 60_000,
  termWaitMs: 30_000,
  maxRestarts: 0,
  restartWindowMs: 60_000,
};

/** A process that does what the story says. */
class FakeChild implements Child {
  readonly signals: NodeJS.Signals[] = [];
  speaks = false;

  constructor(
    readonly epoch: number,
    readonly pid: number,
    readonly events: ChildEvents,
  ) {}

  kill(signal: NodeJS.Signals): void {
    this.signals.push(signal);
  }
  ready(): void {
    this.speaks = true;
    this.events.onReady();
  }
  exit(code: number): void {
    this.events.onEnd({ code, how: `exited with code ${code}` });
  }
}

class Story {
  readonly children: FakeChild[] = [];
  readonly told: string[] = [];
  readonly logged: string[] = [];
  readonly supervisor: Supervisor;
  nowMs = 0;
  code: number | undefined;

  constructor(
    readonly t: TestContext,
    options: Partial<SupervisorOptions> = {},
  ) {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    this.supervisor = new Supervisor(
      { ...OPTIONS, ...options },
      {
        launch: (epoch, events) => {
          const child = new FakeChild(epoch, 100 + this.children.length, events);
          this.children.push(child);
          return child;
        },
        log: (level, message) => this.logged.push(`${level}: ${message}`),
        tell: (...assignments) => this.told.push(assignments.join(' ')),
        monotonicMs: () => this.nowMs,
      },
    );
    void this.supervisor.ended.then((code) => (this.code = code));
    this.supervisor.start();
  }

  child(index: number): FakeChild {
    const child = this.children[index];
    assert.ok(child, `there are ${this.children.length} processes only`);
    return child;
  }

  /** Epochs 0 to `count` - 1, each of which has taken over. */
  serveEpochs(count: number): void {
    for (let epoch = 0; epoch < count; epoch += 1) {
      if (epoch > 0) this.supervisor.restart();
      this.child(epoch).ready();
    }
  }

  pass(ms: number): void {
    this.nowMs += ms;
    this.t.mock.timers.tick(ms);
  }

  async endCode(): Promise<number | undefined> {
    await Promise.resolve();
    return this.code;
  }

  get epochs(): number[] {
    return this.children.map(({ epoch }) => epoch);
  }
}

test('each restart is the next epoch, and the one before may end in peace', async (t) => {
  const story = new Story(t);
  story.serveEpochs(3);
  story.child(0).exit(0);
  story.child(1).exit(0);

  assert.deepEqual(story.epochs, [0, 1, 2]);
  assert.deepEqual(story.child(0).signals, []);
  assert.equal(await story.endCode(), undefined);
});

test('the service manager hears of start, reload and end', (t) => {
  const story = new Story(t);
  story.nowMs = 1234.5678;
  story.child(0).ready();
  story.supervisor.restart();
  story.child(1).ready();
  story.supervisor.end();

  assert.deepEqual(story.told, [
    'STATUS=epoch 0 (pid 100) is starting',
    'READY=1 STATUS=epoch 0 (pid 100) serves',
    'RELOADING=1 MONOTONIC_USEC=1234568',
    'STATUS=epoch 1 (pid 101) is starting',
    'READY=1 STATUS=epoch 1 (pid 101) serves',
    'STOPPING=1 STATUS=ending',
  ]);
});

test('the first process that ends before it is LIVE ends the restarter with its code', async (t) => {
  for (const code of [0, 3]) {
    t.mock.timers.reset();
    const story = new Story(t, { maxRestarts: 5 });
    story.child(0).exit(code);

    assert.equal(await story.endCode(), code);
    assert.deepEqual(story.epochs, [0]);
  }
});

test('a successor that ends before it is LIVE leaves the old one serving, and its epoch is tried again', async (t) => {
  const story = new Story(t);
  story.serveEpochs(2);
  story.supervisor.restart();
  story.child(2).exit(1);

  assert.equal(
    story.told.at(-1),
    'READY=1 STATUS=epoch 1 (pid 101) serves on; epoch 2 did not become LIVE',
  );
  story.supervisor.restart();
  assert.deepEqual(story.epochs, [0, 1, 2, 2]);
  story.child(3).ready();
  assert.deepEqual(story.child(1).signals, []);
  assert.equal(await story.endCode(), undefined);
});

test('a successor that does not get ready in time is ended, then killed, and the old one serves on', (t) => {
  const story = new Story(t, { readyTimeoutMs: 1000, termWaitMs: 500 });
  story.serveEpochs(1);
  story.supervisor.restart();
  story.pass(999);
  assert.deepEqual(story.child(1).signals, []);
  story.pass(1);
  assert.deepEqual(story.child(1).signals, ['SIGTERM']);
  story.child(1).ready();
  assert.match(story.told.at(-1) ?? '', /^STATUS=epoch 1/);
  story.pass(500);
  assert.deepEqual(story.child(1).signals, ['SIGTERM', 'SIGKILL']);
  story.child(1).exit(137);

  story.supervisor.restart();
  assert.deepEqual(story.epochs, [0, 1, 1]);
  assert.deepEqual(story.child(0).signals, []);
});

test('without a timeout a start may take for ever', (t) => {
  const story = new Story(t, { readyTimeoutMs: 0 });
  story.pass(10 ** 9);
  assert.deepEqual(story.child(0).signals, []);
});

test('restarts that are asked for during a start become one after it, whether it fails or not', (t) => {
  for (const isGood of [true, false]) {
    t.mock.timers.reset();
    const story = new Story(t);
    story.serveEpochs(1);
    for (let asked = 0; asked < 3; asked += 1) story.supervisor.restart();
    assert.deepEqual(story.epochs, [0, 1]);
    if (isGood) story.child(1).ready();
    else story.child(1).exit(1);

    assert.deepEqual(story.epochs, isGood ? [0, 1, 2] : [0, 1, 1]);
    story.child(2).ready();
    assert.equal(story.children.length, 3);
  }
});

test('the only one that serves dies: the restarter ends with its code', async (t) => {
  const story = new Story(t);
  story.serveEpochs(1);
  story.child(0).exit(139);

  assert.equal(await story.endCode(), 139);
});

test('the only one that serves ends by itself with 0: so does the restarter', async (t) => {
  const story = new Story(t, { maxRestarts: 3 });
  story.serveEpochs(1);
  story.child(0).exit(0);

  assert.equal(await story.endCode(), 0);
});

test('a predecessor that dies while it drains changes nothing', async (t) => {
  const story = new Story(t);
  story.serveEpochs(2);
  story.child(0).exit(139);

  assert.equal(await story.endCode(), undefined);
  assert.match(story.logged.at(-1) ?? '', /^warning: epoch 0 \(pid 100\) exited with code 139$/);
});

for (const knows of ['before', 'after']) {
  test(`the successor dies: a predecessor that serves again, and says so ${knows} the end is seen, is the one that the next epoch follows`, async (t) => {
    const story = new Story(t);
    story.serveEpochs(2);
    if (knows === 'before') story.child(0).ready();
    story.child(1).exit(137);
    if (knows === 'after') story.child(0).ready();
    story.pass(60_000);

    assert.equal(story.told.at(-1), 'READY=1 STATUS=epoch 0 (pid 100) serves');
    story.supervisor.restart();
    assert.deepEqual(story.epochs, [0, 1, 1]);
    assert.deepEqual(story.child(0).signals, []);
    assert.equal(await story.endCode(), undefined);
  });
}

test('the successor dies, and the predecessor does not serve again: it is killed', async (t) => {
  const story = new Story(t);
  story.serveEpochs(2);
  story.child(1).exit(137);
  story.pass(5000);
  assert.deepEqual(story.child(0).signals, ['SIGKILL']);
  story.child(0).exit(137);

  assert.equal(await story.endCode(), 137);
});

test('the one that serves dies while its successor starts: that one may still become LIVE', async (t) => {
  const story = new Story(t);
  story.serveEpochs(1);
  story.supervisor.restart();
  story.child(0).exit(139);
  story.child(1).ready();

  assert.equal(story.told.at(-1), 'READY=1 STATUS=epoch 1 (pid 101) serves');
  assert.equal(await story.endCode(), undefined);
});

test('both die: the restarter ends with the code of the one that served', async (t) => {
  const story = new Story(t);
  story.serveEpochs(1);
  story.supervisor.restart();
  story.child(0).exit(139);
  story.child(1).exit(1);

  assert.equal(await story.endCode(), 139);
});

test('so many crashes begin anew with epoch 0, once nobody is left; one more is the end', async (t) => {
  const story = new Story(t, { maxRestarts: 2 });
  story.serveEpochs(2);
  story.child(1).exit(139);
  story.pass(5000);
  assert.deepEqual(story.epochs, [0, 1]);
  story.child(0).exit(137);
  assert.deepEqual(story.epochs, [0, 1, 0]);
  story.child(2).ready();
  story.child(2).exit(139);
  story.child(3).ready();
  assert.equal(await story.endCode(), undefined);
  story.child(3).exit(134);

  assert.deepEqual(story.epochs, [0, 1, 0, 0]);
  assert.equal(await story.endCode(), 134);
});

test('crashes that lie further back than the window do not count', async (t) => {
  const story = new Story(t, { maxRestarts: 1, restartWindowMs: 10_000 });
  for (let crash = 0; crash < 5; crash += 1) {
    story.child(crash).ready();
    story.pass(10_000);
    story.child(crash).exit(139);
  }

  assert.equal(story.children.length, 6);
  assert.equal(await story.endCode(), undefined);
});

test('the end: everyone is asked to end, and the exit code is 0', async (t) => {
  const story = new Story(t);
  story.serveEpochs(2);
  story.supervisor.restart();
  story.supervisor.end();
  for (const child of story.children) assert.deepEqual(child.signals, ['SIGTERM']);
  story.child(2).exit(1);
  story.child(0).exit(0);
  assert.equal(await story.endCode(), undefined);
  story.supervisor.restart();
  story.child(1).exit(0);

  assert.equal(await story.endCode(), 0);
  assert.equal(story.children.length, 3);
});

test('who has not ended after the wait is killed, and the exit code is 1', async (t) => {
  const story = new Story(t, { termWaitMs: 2000 });
  story.serveEpochs(2);
  story.supervisor.end();
  story.child(0).exit(0);
  story.pass(2000);
  assert.deepEqual(story.child(0).signals, ['SIGTERM']);
  assert.deepEqual(story.child(1).signals, ['SIGTERM', 'SIGKILL']);
  story.child(1).exit(137);

  assert.equal(await story.endCode(), 1);
});

test('asked to end twice, it does not wait', async (t) => {
  const story = new Story(t);
  story.serveEpochs(1);
  story.supervisor.end();
  story.supervisor.end();
  assert.deepEqual(story.child(0).signals, ['SIGTERM', 'SIGKILL']);
  story.child(0).exit(137);

  assert.equal(await story.endCode(), 1);
});

test('a rotation of logs reaches all, those that start once they are LIVE', (t) => {
  const story = new Story(t);
  story.serveEpochs(2);
  story.supervisor.restart();
  story.supervisor.reopenLogs();
  assert.deepEqual(
    story.children.map(({ signals }) => signals),
    [['SIGUSR1'], ['SIGUSR1'], []],
  );
  story.child(2).ready();

  assert.deepEqual(story.child(2).signals, ['SIGUSR1']);
});
