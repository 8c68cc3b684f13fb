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

test("measures each case of a job, reports it at once, and ends the job", async () => {
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

test("sends heartbeats during a test, too", async () => {
  const enough = gate();
  bench.during = () => enough.opened;
  const job = farm.enqueue(["a"]);
  await start();

  await farm.until(() => farm.heartbeats > 5);
  enough.open();

  expect(await farm.ended(job)).toEqual({ outcome: "success" });
});

test("a benchmark that fails is reported as an error, and does not stop the others", async () => {
  bench.during = (benchmark) => {
    if (benchmark === "a") throw new Fault("failed_precondition", "it exited with 3\0");
  };
  const job = farm.enqueue(["a", "b"]);
  await start();

  expect(await farm.ended(job)).toEqual({ outcome: "success" });
  expect(farm.storedOf("a")).toMatchObject([{ error: "it exited with 3\uFFFD" }]);
  expect(farm.storedOf("b")).toMatchObject([{ iterations: [{ iteration: 1 }] }]);
});

test("a test that failed because of the machine is repeated, and finished tests are not", async () => {
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

describe("an unavailable artifact", () => {
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

  test("is a local path: a permanent error, and no file of this machine is read", async () => {
    const job = farm.enqueue(["a"], { component: { kind: "path", path: "/etc" } });
    await start();

    expect(await farm.ended(job)).toMatchObject({ outcome: "permanent" });
    expect(bench.places).toEqual([]);
  });
});

describe("while the server is unreachable", () => {
  test("it continues to measure, and reports everything afterwards", async () => {
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

  test("a job that was requeued meanwhile is resumed, and nothing is measured twice", async () => {
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

  test("a stopped collector keeps its results, and ends no job", async () => {
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

test("results of a changed machine are not reported for the present one", async () => {
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

test("registers again when its machine changes", async () => {
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

    // Another collector has the job: a queued job would be assigned to this collector again.
    job.state = state === "queued" ? "ended" : state;

    await farm.until(() => bench.killed.length === 1);
    const next = farm.enqueue(["c"]);
    expect(await farm.ended(next)).toEqual({ outcome: "success" });
    expect({ measured: bench.measured, end: job.end }).toEqual({ measured: ["c"], end: undefined });
  },
);

test("results that the server rejects become errors of the test, and block nothing", async () => {
  farm.refuses = ({ iterations }) => (iterations ?? []).length > 0;
  const job = farm.enqueue(["a"]);
  await start();

  expect(await farm.ended(job)).toEqual({ outcome: "success" });
  expect(farm.storedOf("a")).toMatchObject([{ error: expect.stringContaining("makes no sense") }]);
});

test("runs as many iterations as a job requests, numbered from the requested start", async () => {
  const job = farm.enqueue(["a"], { iterations: { after: 3, count: 2 } });
  await start();

  expect(await farm.ended(job)).toEqual({ outcome: "success" });
  expect(farm.storedOf("a")).toMatchObject([{ iterations: [{ iteration: 4 }, { iteration: 5 }] }]);
});

describe("pairs", () => {
  test("are reported one by one, and continue after a crash", async () => {
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

  test("that are not sent yet also count", async () => {
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

describe("when it is stopped", () => {
  test("it returns its job after a grace period for the test, without using an attempt", async () => {
    const never = gate();
    bench.during = (benchmark) => (benchmark === "b" ? never.opened : undefined);
    const job = farm.enqueue(["a", "b"]);
    const collector = await start();
    await farm.until(() => bench.begun.length === 2);

    await collector.stop();

    expect(job).toMatchObject({ end: { outcome: "handed-back" }, attempt: 0, state: "queued" });
    expect(bench.killed).toEqual(["b"]);
  });

  test("a test that ends in time is kept, and the next does not start", async () => {
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

  test("a second time, it does not wait", async () => {
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

  test("it waits, and measures when the machine is quiet", async () => {
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

  test("it measures nothing while another collector measures, and sends heartbeats", async () => {
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
  test("ends the collector between requests, without using an attempt", async () => {
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

  test("ends an idle collector", async () => {
    farm.serverVersion = "2";
    const collector = await start();

    expect(await collector.over).toMatchObject({ kind: "update" });
  });

  test("does not end it again when an update had no effect: an old version is better than none", async () => {
    farm.serverVersion = "2";
    const first = await start();
    await first.over;
    await first.stop();

    const job = farm.enqueue(["a"]);
    await start();

    expect(await farm.ended(job)).toEqual({ outcome: "success" });
  });
});

test("a second process with its name ends the first", async () => {
  const first = await start();
  await farm.until(() => farm.hellos.length === 1);

  await start({ dataDir: join(dataDir, "other") });

  expect(await first.over).toMatchObject({ kind: "replaced" });
});

test("a second process in its directory is rejected, with the name of the first", async () => {
  await start();

  await expect(start()).rejects.toThrow(/collector lab-1 \(process \d+\) uses /);
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

test("waits for a server that does not answer yet", async () => {
  farm.away = true;
  const job = farm.enqueue(["a"]);
  await start();
  await new Promise((resolve) => setTimeout(resolve, 50));

  farm.away = false;

  expect(await farm.ended(job)).toEqual({ outcome: "success" });
});

describe("a self-test", () => {
  test("compares the last measured artifact with itself while it is idle", async () => {
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

  test("waits until something was measured, and does not run when it is not wanted", async () => {
    farm.selfTestDue = true;
    await start({ selfTest: false });
    const job = farm.enqueue(["a"]);
    await farm.ended(job);
    const next = farm.enqueue(["b"]);
    await farm.ended(next);

    expect(farm.selfTests).toEqual([]);
  });

  test("is aborted when the collector stops", async () => {
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

test("a job whose success the server rejects is measured again completely", async () => {
  const job = farm.enqueue(["a"]);
  farm.disbelieves = 1;
  await start();

  await farm.until(() => bench.measured.length === 2);

  expect(await farm.ended(job)).toEqual({ outcome: "success" });
});

test("a machine with another target than its collector ends with an explanation, and claims nothing", async () => {
  farm.enqueue(["a"]);
  farm.target = "plan9-z80";

  const { over } = await start();

  expect(await over).toMatchObject({
    kind: "refused",
    why: expect.stringContaining("is registered for plan9-z80"),
  });
  expect(bench.measured).toEqual([]);
});

test("with `anyTarget`, it measures on any target", async () => {
  const job = farm.enqueue(["a"]);
  farm.target = "my-lab";
  await start({ anyTarget: true });

  expect(await farm.ended(job)).toEqual({ outcome: "success" });
});
