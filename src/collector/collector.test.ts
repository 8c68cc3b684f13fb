import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import { takeLock } from "#machine/holder-lock.ts";
import { type CollectorConfig, readCollectorConfig } from "./config.ts";
import { FakeBench } from "./fake-bench.fixture.ts";
import { FakeFarm } from "./fake-farm.fixture.ts";
import { type RunningCollector, startCollectorOn } from "./start-collector.ts";

let dataDir: string;
let farm: FakeFarm;
let bench: FakeBench;
const running: RunningCollector[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "grange-collector-"));
  farm = new FakeFarm();
  bench = new FakeBench();
});
afterEach(async () => {
  farm.away = false;
  await Promise.all(running.splice(0).map((each) => each.stop()));
  rmSync(dataDir, { recursive: true, force: true });
});

async function start(more: Partial<CollectorConfig> = {}): Promise<RunningCollector> {
  const told = {
    name: "lab-1",
    version: "1",
    dataDir,
    measuringLock: join(dataDir, "measuring.lock"),
    claimWaitMs: 20,
    drainMs: 50,
    ...more,
  };
  const config = readCollectorConfig(told, { isOnThisMachine: true });
  const logger = pino({ level: "silent" });
  const collector = await startCollectorOn(config, farm, async () => bench, logger);
  running.push(collector);
  return collector;
}

const spooled = () => readdirSync(join(dataDir, "spool"));

/** A promise that a test resolves. */
function gate() {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

test("measures each case of a job, tells it at once, and ends the job", async () => {
  const job = farm.enqueue(["a", "b"]);
  await start();

  expect(await farm.ended(job)).toEqual({ outcome: "success" });
  expect(bench.measured).toEqual(["a", "b"]);
  expect(farm.stored.map(({ report }) => report)).toMatchObject([
    {
      case: { benchmark: "a" },
      iterations: [{ iteration: 1, values: { wall: 1 } }],
      metrics: [{ name: "instructions" }, { name: "wall" }],
    },
    { case: { benchmark: "b" } },
  ]);
  expect(spooled()).toEqual([]);
  await farm.until(() => bench.released === 1);
});

test("tells the server that it is there during a test, too", async () => {
  const enough = gate();
  bench.during = () => enough.opened;
  const job = farm.enqueue(["a"]);
  await start();

  await farm.until(() => farm.heartbeats > 5);
  enough.open();

  expect(await farm.ended(job)).toEqual({ outcome: "success" });
});

test("a benchmark that fails is told as its error, and stops no other", async () => {
  bench.during = (benchmark) => {
    if (benchmark === "a") throw new Fault("failed_precondition", "it exited with 3\0");
  };
  const job = farm.enqueue(["a", "b"]);
  await start();

  expect(await farm.ended(job)).toEqual({ outcome: "success" });
  expect(farm.storedOf("a")).toMatchObject([{ error: "it exited with 3\uFFFD" }]);
  expect(farm.storedOf("b")).toMatchObject([{ iterations: [{ iteration: 1 }] }]);
});

test("what the machine makes fail is measured again, and what was measured is not", async () => {
  let fails = 1;
  bench.during = (benchmark) => {
    if (benchmark === "a" && fails-- > 0) throw new Error("ENOSPC: no space left on device");
  };
  const job = farm.enqueue(["a", "b"]);
  await start();

  await farm.until(() => job.state === "ended");
  expect({ attempt: job.attempt, measured: bench.measured }).toEqual({
    attempt: 2,
    measured: ["b", "a"],
  });
});

describe("an artifact that cannot be had", () => {
  test.each([
    { why: "is not there", reason: new Fault("not_found", "404"), outcome: "permanent" },
    {
      why: "is not what it should be",
      reason: new Fault("data_loss", "hash"),
      outcome: "permanent",
    },
    {
      why: "is out of reach",
      reason: new Fault("unavailable", "ECONNRESET"),
      outcome: "transient",
    },
    { why: "has no room on the disk", reason: new Error("ENOSPC"), outcome: "transient" },
  ])("$why: $outcome", async ({ reason, outcome }) => {
    bench.placing = () => {
      throw reason;
    };
    const job = farm.enqueue(["a"]);
    await start();

    expect(await farm.ended(job)).toMatchObject({ outcome, error: `2: ${reason.message}` });
    expect(bench.measured).toEqual([]);
  });

  test("is a path of somebody's machine: permanent, and nothing of this one is read", async () => {
    const job = farm.enqueue(["a"], { component: { kind: "path", path: "/etc" } });
    await start();

    expect(await farm.ended(job)).toMatchObject({ outcome: "permanent" });
    expect(bench.places).toEqual([]);
  });
});

describe("while the server is away", () => {
  test("it measures on, and tells all when it is back", async () => {
    bench.during = (benchmark) => {
      if (benchmark === "b") farm.away = true;
    };
    const job = farm.enqueue(["a", "b", "c"]);
    await start();

    await farm.until(() => bench.measured.length === 3 && spooled().length === 2);
    expect(farm.stored).toHaveLength(1);
    farm.away = false;

    expect(await farm.ended(job)).toEqual({ outcome: "success" });
    expect(farm.stored.map(({ report }) => report.case.benchmark)).toEqual(["a", "b", "c"]);
    expect(spooled()).toEqual([]);
  });

  test("a job that went back meanwhile is taken up again, and nothing is measured twice", async () => {
    bench.during = (benchmark) => {
      if (benchmark === "b") farm.away = true;
    };
    const job = farm.enqueue(["a", "b"]);
    await start();
    await farm.until(() => bench.measured.length === 2 && spooled().length === 1);

    farm.requeue(job);
    farm.away = false;

    await farm.until(() => job.state === "ended");
    expect({ epoch: job.epoch, measured: bench.measured }).toEqual({
      epoch: 2,
      measured: ["a", "b"],
    });
    expect(farm.storedOf("b")).toHaveLength(1);
  });

  test("a collector that is stopped keeps what it measured, and ends nothing", async () => {
    bench.during = () => {
      farm.away = true;
    };
    const job = farm.enqueue(["a"]);
    const collector = await start();
    await farm.until(() => spooled().length === 1);

    await collector.stop();
    expect(job.end).toBeUndefined();

    // The next process reports it.
    farm.away = false;
    await start();
    await farm.until(() => job.state === "ended");
    expect(bench.measured).toEqual(["a"]);
    expect(farm.storedOf("a")).toHaveLength(1);
  });
});

test("results of a machine that was another are not told as those of this one", async () => {
  bench.during = () => {
    farm.away = true;
  };
  const job = farm.enqueue(["a"]);
  const collector = await start();
  await farm.until(() => spooled().length === 1);
  await collector.stop();

  bench.environment = { cpu: "another" };
  bench.during = () => {};
  farm.away = false;
  await start();

  await farm.until(() => job.state === "ended");
  expect(bench.measured).toEqual(["a", "a"]);
  expect(farm.storedOf("a")).toHaveLength(1);
});

test("says hello again when its machine changes", async () => {
  await start();
  await farm.until(() => farm.hellos.length === 1);

  bench.environment = { cpu: "one", governor: "powersave" };

  await farm.until(() => farm.hellos.length === 2);
  expect(farm.hellos.map((each) => each.environment)).toEqual([
    { cpu: "one" },
    { cpu: "one", governor: "powersave" },
  ]);
  expect(new Set(farm.hellos.map((each) => each.incarnation)).size).toBe(1);
});

test.each(["cancelled", "queued"] as const)(
  "drops a job that is %s, and kills what it runs",
  async (state) => {
    const never = gate();
    bench.during = (benchmark) => (benchmark === "a" ? never.opened : undefined);
    const job = farm.enqueue(["a", "b"]);
    await start();
    await farm.until(() => bench.begun.length === 1);

    // Another collector has it: a queued job would be assigned to us again.
    job.state = state === "queued" ? "ended" : state;

    await farm.until(() => bench.killed.length === 1);
    const next = farm.enqueue(["c"]);
    expect(await farm.ended(next)).toEqual({ outcome: "success" });
    expect({ measured: bench.measured, end: job.end }).toEqual({ measured: ["c"], end: undefined });
  },
);

test("results that the server does not take are the test's error, and hold nothing up", async () => {
  farm.refuses = ({ iterations }) => (iterations ?? []).length > 0;
  const job = farm.enqueue(["a"]);
  await start();

  expect(await farm.ended(job)).toEqual({ outcome: "success" });
  expect(farm.storedOf("a")).toMatchObject([{ error: expect.stringContaining("makes no sense") }]);
});

test("takes as many runs as a job says, numbered from where it says", async () => {
  const job = farm.enqueue(["a"], { iterations: { after: 3, count: 2 } });
  await start();

  expect(await farm.ended(job)).toEqual({ outcome: "success" });
  expect(farm.storedOf("a")).toMatchObject([{ iterations: [{ iteration: 4 }, { iteration: 5 }] }]);
});

describe("pairs", () => {
  test("are told one by one, and go on after a crash where they were", async () => {
    const never = gate();
    bench.during = () => (bench.pairs.length === 2 ? never.opened : undefined);
    const job = farm.enqueue(["a"], { paired: true });
    const collector = await start();
    await farm.until(() => farm.stored.length === 2);

    await collector.stop();
    bench.during = () => {};
    await start();

    await farm.until(() => job.state === "ended");
    expect(bench.pairs.map(({ pair }) => pair)).toEqual([1, 2, 3]);
    expect(farm.storedOf("a").flatMap(({ pairs }) => pairs ?? [])).toHaveLength(3);
  });

  test("that wait for the server count, too", async () => {
    bench.during = () => {
      farm.away = true;
    };
    const job = farm.enqueue(["a"], { paired: true });
    bench.pairsWanted = 2;
    const collector = await start();
    await farm.until(() => spooled().length === 2);
    await collector.stop();

    bench.pairsWanted = 3;
    farm.away = false;
    bench.during = () => {};
    await start();

    await farm.until(() => job.state === "ended");
    expect(
      farm
        .storedOf("a")
        .flatMap(({ pairs }) => pairs ?? [])
        .map(({ pair }) => pair),
    ).toEqual([1, 2]);
  });
});

describe("told to stop", () => {
  test("it hands its job back, no attempt burnt, once a test has had its while", async () => {
    const never = gate();
    bench.during = (benchmark) => (benchmark === "b" ? never.opened : undefined);
    const job = farm.enqueue(["a", "b"]);
    const collector = await start();
    await farm.until(() => bench.begun.length === 2);

    await collector.stop();

    expect(job).toMatchObject({ end: { outcome: "handed-back" }, attempt: 0, state: "queued" });
    expect(bench.killed).toEqual(["b"]);
  });

  test("a test that ends in time is kept, and the next is not begun", async () => {
    const soon = gate();
    bench.during = () => soon.opened;
    const job = farm.enqueue(["a", "b"]);
    const collector = await start({ drainMs: 60_000 });
    await farm.until(() => bench.begun.length === 1);

    const stopped = collector.stop();
    soon.open();
    await stopped;

    expect(job.end).toMatchObject({ outcome: "handed-back" });
    expect(farm.stored.map(({ report }) => report.case.benchmark)).toEqual(["a"]);
  });

  test("twice, it does not wait", async () => {
    const never = gate();
    bench.during = () => never.opened;
    const job = farm.enqueue(["a"]);
    const collector = await start({ drainMs: 60_000 });
    await farm.until(() => bench.begun.length === 1);

    void collector.stop();
    await collector.stop();

    expect(job.end).toMatchObject({ outcome: "handed-back" });
  });
});

describe("on a busy machine", () => {
  const busy = { others: 1.5, stolen: 0, averagePerCpu: 0 };

  test("it waits, and measures when it is quiet", async () => {
    bench.busy = busy;
    const job = farm.enqueue(["a"]);
    await start();
    await farm.until(() => farm.heartbeats > 3);
    expect(bench.measured).toEqual([]);

    bench.busy = { ...busy, others: 0 };

    expect(await farm.ended(job)).toEqual({ outcome: "success" });
    expect(farm.storedOf("a")).toMatchObject([{ iterations: [{ warnings: [] }] }]);
  });

  test.each([{ onLoad: "flag" as const }, { onLoad: "wait" as const, busyWaitLimitMs: 0 }])(
    "told otherwise, it measures and flags its figures ($onLoad)",
    async (more) => {
      bench.busy = busy;
      const job = farm.enqueue(["a"]);
      await start(more);

      expect(await farm.ended(job)).toEqual({ outcome: "success" });
      expect(farm.storedOf("a")).toMatchObject([
        { iterations: [{ warnings: [expect.stringContaining("1.5 CPUs busy")] }] },
      ]);
    },
  );

  test("it measures nothing while another measures there, and says that it is there", async () => {
    const other = await takeLock(join(dataDir, "measuring.lock"), "lab-2");
    const job = farm.enqueue(["a"]);
    await start();
    await farm.until(() => farm.heartbeats > 5);
    expect(bench.measured).toEqual([]);

    if ("lock" in other) await other.lock.release();

    expect(await farm.ended(job)).toEqual({ outcome: "success" });
  });
});

describe("a server of another version", () => {
  test("ends it between requests, no attempt burnt", async () => {
    const first = farm.enqueue(["a"]);
    bench.during = () => {
      farm.serverVersion = "2";
    };
    const again = farm.enqueue(["b"], { requestId: first.claimed.requestId });
    const other = farm.enqueue(["c"]);
    const collector = await start();

    expect(await collector.over).toMatchObject({ kind: "update" });
    expect([first.state, again.state, other.state]).toEqual(["ended", "ended", "queued"]);
    expect(other).toMatchObject({ end: { outcome: "handed-back" }, attempt: 0 });
  });

  test("ends one that has nothing to do", async () => {
    farm.serverVersion = "2";
    const collector = await start();

    expect(await collector.over).toMatchObject({ kind: "update" });
  });

  test("is borne with when the update brought nothing: better the old version than none", async () => {
    farm.serverVersion = "2";
    const first = await start();
    await first.over;
    await first.stop();

    const job = farm.enqueue(["a"]);
    await start();

    expect(await farm.ended(job)).toEqual({ outcome: "success" });
  });
});

test("a second process that speaks for it ends the first", async () => {
  const first = await start();
  await farm.until(() => farm.hellos.length === 1);

  await start({ dataDir: join(dataDir, "other") });

  expect(await first.over).toMatchObject({ kind: "replaced" });
});

test("a second process on its directory is refused, and told who is there", async () => {
  await start();

  await expect(start()).rejects.toThrow(/collector lab-1 \(process \d+\) works in /);
});

test.each(["not_found", "unauthenticated", "permission_denied"] as const)(
  "ends when nobody wants it to measure (%s)",
  async (code) => {
    farm.hello = async () => {
      throw new Fault(code, "no");
    };
    const collector = await start();

    expect(await collector.over).toEqual({ kind: "refused", why: "no" });
  },
);

test("waits for a server that is not there yet", async () => {
  farm.away = true;
  const job = farm.enqueue(["a"]);
  await start();
  await new Promise((resolve) => setTimeout(resolve, 50));

  farm.away = false;

  expect(await farm.ended(job)).toEqual({ outcome: "success" });
});

describe("a self-test", () => {
  test("compares what was measured last with itself, when there is nothing else to do", async () => {
    bench.pairsWanted = 5;
    bench.values = (nth) => ({ instructions: nth % 2 === 0 ? 1_000 : 1_001 });
    const job = farm.enqueue(["a", "b"]);
    await start({ selfTestComparisons: 4 });
    await farm.ended(job);

    farm.selfTestDue = true;

    const report = await farm.until(() => farm.selfTests[0]);
    // For each case, wall time by pairs and instructions by counted runs.
    expect(report).toMatchObject({ comparisons: 8, alarms: 0 });
    expect(report.noise).toHaveLength(8);
    const wall = { suite: "tiny", metric: "wall", change: 0 };
    const instructions = { suite: "tiny", metric: "instructions", change: expect.closeTo(0.001) };
    expect(report.noise?.slice(0, 2)).toMatchObject([wall, instructions]);
    expect(new Set(bench.pairs.map(({ benchmark }) => benchmark))).toEqual(new Set(["a", "b"]));
  });

  test("waits until something was measured, and is not made where nobody wants it", async () => {
    farm.selfTestDue = true;
    await start({ selfTest: false });
    const job = farm.enqueue(["a"]);
    await farm.ended(job);
    const next = farm.enqueue(["b"]);
    await farm.ended(next);

    expect(farm.selfTests).toEqual([]);
  });

  test("is given up when the collector is to stop", async () => {
    const job = farm.enqueue(["a"]);
    const collector = await start();
    await farm.ended(job);
    const never = gate();
    bench.during = () => never.opened;
    const { length } = farm.hellos;
    farm.selfTestDue = true;
    // Meanwhile it contacts the server.
    await farm.until(() => bench.begun.length === 2 && farm.hellos.length > length + 1);

    await collector.stop();

    expect({ reports: farm.selfTests, killed: bench.killed }).toEqual({
      reports: [],
      killed: ["a"],
    });
  });
});

test("a job whose success the server does not believe is measured again as a whole", async () => {
  const job = farm.enqueue(["a"]);
  farm.disbelieves = 1;
  await start();

  await farm.until(() => bench.measured.length === 2);

  expect(await farm.ended(job)).toEqual({ outcome: "success" });
});

test("a machine of another target than its collector ends with a sentence, and claims nothing", async () => {
  farm.enqueue(["a"]);
  farm.target = "plan9-z80";

  const { over } = await start();

  expect(await over).toMatchObject({
    kind: "refused",
    why: expect.stringContaining("is registered for plan9-z80"),
  });
  expect(bench.measured).toEqual([]);
});

test("told that any target will do, it measures", async () => {
  const job = farm.enqueue(["a"]);
  farm.target = "my-lab";
  await start({ anyTarget: true });

  expect(await farm.ended(job)).toEqual({ outcome: "success" });
});
