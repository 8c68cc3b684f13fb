import { mkdtempSync, rmSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { messageOf } from "#core/fault.ts";
import { type Finished, Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import { diskDirectory } from "../../test/support/disk-directory.ts";
import { python3, sandboxNeed } from "../../test/support/needs/machine-needs.ts";
import { type Need, needs, skipWithout } from "../../test/support/needs/needs.ts";
import { readWorkerConfig, type WorkerConfig } from "./config.ts";
import { ActionExecutor } from "./execute-action.ts";
import { FakeFarm, type FakeJob } from "./fake-farm.fixture.ts";
import { findCgroups } from "./limits/cgroup-files.ts";
import { cgroupV1Limiter } from "./limits/cgroup-v1.ts";
import { cgroupV2Limiter } from "./limits/cgroup-v2.ts";
import { parseCpuList } from "./limits/cpu-list.ts";
import type { Limiter, LimiterSettings } from "./limits/limits.ts";
import { usableCpus } from "./limits/machine-size.ts";
import { procLimiter } from "./limits/proc-limiter.ts";
import type { CapturedLog } from "./logs/captured-log.ts";
import { type Machine, openMachine } from "./machine.ts";
import type { StopReason } from "./run-process.ts";

const mebibyte = 1024 ** 2;
const mounts = findCgroups();
const taskset = "/usr/bin/taskset";
/** Less than the maximum of jobs: these tests may run in a job themselves, whose own limit includes these processes. */
const mostProcesses = 1_000;

const modes: [Limiter["kind"], (settings: LimiterSettings) => Promise<Limiter>][] = [
  ["cgroup-v2", (settings) => cgroupV2Limiter(mounts, settings)],
  ["cgroup-v1", (settings) => cgroupV1Limiter(mounts, settings)],
  ["proc", async (settings) => procLimiter(settings)],
];
const found = await Promise.all(
  modes.map(async ([kind, open]) => ({
    kind,
    open,
    reason: await open({ givesCpus: true, taskset }).then(
      () => undefined,
      (reason: unknown) => messageOf(reason),
    ),
  })),
);

/** Only one of the two versions is available on a machine. */
const cgroups: Need = {
  name: "limits by cgroups",
  missing: found.some(({ kind, reason }) => kind !== "proc" && reason === undefined)
    ? undefined
    : found.flatMap(({ reason }) => reason ?? []).join("; "),
  remedy: { kind: "root" },
};
test("one version of cgroups can be tested", needs(cgroups), () => {
  expect(cgroups.missing).toBeUndefined();
});

const secondCpu: Need = {
  name: "a second CPU",
  missing: usableCpus().length < 2 ? "this machine has one" : undefined,
  remedy: { kind: "machine" },
};

const dirs: string[] = [];
const closings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});
afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
});

function withFewerProcesses(limiter: Limiter): Limiter {
  return {
    ...limiter,
    async open(place) {
      const group = await limiter.open(place);
      const limit = group.limit.bind(group);
      group.limit = (limits) => limit({ ...limits, processes: mostProcesses });
      return group;
    },
  };
}

/** Allocates some memory and keeps it; the bytes are written, so that they are really allocated. */
const hold = (mebibytes: number, then = "") =>
  `node -e 'const a = []; for (let i = 0; i < ${mebibytes}; i++) a.push(Buffer.alloc(1048576, 1)); ${then}'`;
const text = ({ result }: Finished) => Buffer.from(result?.stdoutRaw ?? []).toString();
const memoryOf = ({ usage }: Finished) => Number(usage?.peakMemoryBytes ?? 0);
const cpuMs = ({ usage }: Finished) =>
  [usage?.userTime, usage?.systemTime].reduce(
    (sum, time) => sum + (time ? durationMs(time) : 0),
    0,
  );

describe.each(found.filter(({ reason }) => reason === undefined))("limits by $kind", ({ open }) => {
  const farm = new FakeFarm();
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(diskDirectory(), "grange-slots-"));
    dirs.push(dataDir);
  });

  /** A worker's executor whose slots have limits. */
  async function executor(slot: Partial<WorkerConfig>, more: Partial<LimiterSettings> = {}) {
    const config = readWorkerConfig(
      { server: "http://127.0.0.1:1", name: "w", slots: 1, dataDir, killGraceMs: 100, ...slot },
      {},
    );
    const machine = await openMachine(config);
    const limiter = await open({ givesCpus: config.cpus !== undefined, taskset, ...more });
    const ours: Machine = { ...machine, limiter: withFewerProcesses(limiter) };
    const actions = new ActionExecutor(ours, config);
    closings.push(async () => {
      await actions.cleared();
      await machine.close();
    });
    let count = 0;
    const stop = new AbortController();
    const run = async (job: FakeJob, by = stop.signal) => {
      const work = await farm.workOf(job, `e${count++}`);
      const logs: CapturedLog[] = [];
      const executed = await actions.execute(work, farm.store, {
        stop: by,
        started: (log) => logs.push(log),
      });
      for (const log of logs) await log.close();
      if (executed.kind !== "finished") throw new Error(`it came to no report: ${executed.kind}`);
      return executed.finished;
    };
    return { run, machine };
  }

  test("a process sees as many CPUs as its slot has", async () => {
    const { run } = await executor({ cpus: 1 });

    const script = `nproc; node -p 'os.availableParallelism()'; taskset -pc $$ | sed 's/.*: //'`;
    const [many, parallel, list = ""] = text(await run({ script })).split("\n");

    expect([many, parallel]).toEqual(["1", "1"]);
    expect(parseCpuList(list)).toHaveLength(1);
  });

  test.for(["namespaces", "none"] as const)("the same in sandbox %s", async (sandbox, context) => {
    // Needed when the tests run as root: without a sandbox, the job of a worker that is root runs as root.
    const slot = await executor({ cpus: 1, sandbox, allowRootJobs: true }).catch(messageOf);
    if (typeof slot === "string") {
      const name = `sandbox ${sandbox}`;
      return skipWithout(context, { name, missing: slot, remedy: { kind: "root" } });
    }

    expect(text(await slot.run({ script: "nproc" }))).toBe("1\n");
  });

  test("programs that count online CPUs see the same number in a sandbox", async (context) => {
    const { run, machine } = await executor({ cpus: 1 });
    skipWithout(context, sandboxNeed(machine.sandbox.kind));

    expect(text(await run({ script: "getconf _NPROCESSORS_ONLN" }))).toBe("1\n");
  });

  test("an action's own limit reduces the number", needs(secondCpu), async () => {
    const { run } = await executor({ cpus: 2 });

    expect(text(await run({ script: "nproc" }))).toBe("2\n");
    expect(text(await run({ script: "nproc", platform: { cpus: "1" } }))).toBe("1\n");
    expect(text(await run({ script: "nproc", platform: { cpus: "64" } }))).toBe("2\n");
  });

  test("without a class only the action's own limits apply", async () => {
    const { run } = await executor({});

    expect(text(await run({ script: "nproc" }))).toBe(`${usableCpus().length}\n`);
    expect(text(await run({ script: "nproc", platform: { cpus: "0.5" } }))).toBe("1\n");
  });

  test(
    "two slots that run at once share no CPU while there are enough",
    needs(secondCpu),
    async () => {
      const { run } = await executor({ slots: 2, cpus: 1 });
      const script = "taskset -pc $$ | sed 's/.*: //'; sleep 0.5";

      for (let round = 0; round < 2; round++) {
        const both = await Promise.all([run({ script }), run({ script })]);
        expect(new Set(both.map(text)).size).toBe(2);
      }
    },
  );

  test("two workers of a machine use separate CPUs", needs(secondCpu), async () => {
    const workers = [await executor({ cpus: 1 }), await executor({ cpus: 1 })];
    const script = "taskset -pc $$ | sed 's/.*: //'";

    const lists = await Promise.all(workers.map(({ run }) => run({ script })));

    expect(new Set(lists.map(text)).size).toBe(2);
  });

  test("a job that runs out of memory is distinguished from one that fails, and does not affect its neighbour", async () => {
    const { run } = await executor({ slots: 2, memoryBytes: 200 * mebibyte });

    const [greedy, neighbour] = await Promise.all([
      run({ script: hold(2_000) }),
      run({ script: hold(60, "setTimeout(() => console.log(a.length), 800)") }),
    ]);

    expect(greedy.outcome).toBe(Outcome.OUT_OF_MEMORY);
    expect(greedy.message).toMatch(
      /a slot on this worker has 200 MiB, and it had used .*size class/,
    );
    expect(memoryOf(greedy)).toBeGreaterThan(150 * mebibyte);
    expect(memoryOf(greedy)).toBeLessThan(1_000 * mebibyte);
    expect(cpuMs(greedy)).toBeGreaterThan(0);
    expect(neighbour.outcome).toBe(Outcome.SUCCEEDED);
    expect(text(neighbour)).toBe("60\n");
  });

  test("also when a child runs out and its parent reports another failure", async () => {
    const { run } = await executor({ memoryBytes: 150 * mebibyte });

    const { outcome } = await run({ script: `(${hold(1_000)}); sleep 0.3; exit 3` });

    expect(outcome).toBe(Outcome.OUT_OF_MEMORY);
  });

  test("also when its parent would wait for it forever", async () => {
    const { run } = await executor({ memoryBytes: 150 * mebibyte });

    const started = performance.now();
    const { outcome } = await run({
      script: `${hold(1_000)}; sleep 60; exit 1`,
      timeoutMs: 50_000,
    });

    expect(outcome).toBe(Outcome.OUT_OF_MEMORY);
    expect(performance.now() - started).toBeLessThan(30_000);
  });

  test("many processes together reach the limit as one does", async () => {
    const { run } = await executor({ memoryBytes: 250 * mebibyte });
    const one = hold(70, "setTimeout(() => {}, 60000)");

    const { outcome } = await run({
      script: `${one} & ${one} & ${one} & ${one} & wait`,
      timeoutMs: 50_000,
    });

    expect(outcome).toBe(Outcome.OUT_OF_MEMORY);
  });

  test("files in memory count, too", async (context) => {
    const { run, machine } = await executor({ memoryBytes: 150 * mebibyte });
    skipWithout(context, sandboxNeed(machine.sandbox.kind));

    const script = "head -c 1000000000 /dev/zero >/dev/shm/x; sleep 5; exit 1";
    const { outcome } = await run({ script });

    expect(outcome).toBe(Outcome.OUT_OF_MEMORY);
  });

  test("cached files do not count as needed", async () => {
    const { run } = await executor({ memoryBytes: 200 * mebibyte });

    const finished = await run({
      script: "head -c 300000000 /dev/zero >big; sleep 0.1; cat big >/dev/null",
    });

    expect(finished.outcome).toBe(Outcome.SUCCEEDED);
    expect(memoryOf(finished)).toBeLessThan(150 * mebibyte);
  });

  test("pages that a fork shares do not count twice at the limit", needs(python3), async () => {
    const python = "python3 -c";
    const { run } = await executor({ memoryBytes: 250 * mebibyte });
    const script = `${python} 'import os,time
a = bytearray(b"1") * (120 << 20)
for n in range(3):
    if os.fork() == 0: time.sleep(0.6); os._exit(0)
for n in range(3): os.wait()'`;
    const { outcome, message } = await run({ script });

    expect({ outcome, message }).toMatchObject({ outcome: Outcome.SUCCEEDED });
  });

  test("a job that is stopped still reports its resources", async () => {
    const { run } = await executor({ memoryBytes: 1_000 * mebibyte });
    const busy = hold(80, "for (;;) ;");

    const timedOut = await run({ script: busy, timeoutMs: 3_000 });
    const cancel = new AbortController();
    setTimeout(() => cancel.abort("cancelled" satisfies StopReason), 3_000);
    const cancelled = await run({ script: busy }, cancel.signal);

    expect(timedOut.outcome).toBe(Outcome.TIMED_OUT);
    expect(cancelled.outcome).toBe(Outcome.CANCELLED);
    for (const finished of [timedOut, cancelled]) {
      expect(memoryOf(finished)).toBeGreaterThan(70 * mebibyte);
      expect(cpuMs(finished)).toBeGreaterThan(200);
    }
  });

  test("the kernel kills jobs before it kills the farm", async () => {
    const { run } = await executor({});

    expect(text(await run({ script: "cat /proc/self/oom_score_adj" }))).toBe("1000\n");
  });

  test("a fork bomb is limited, and does not affect the next job", async () => {
    const { run } = await executor({ memoryBytes: Math.min(4_000 * mebibyte, totalmem() / 4) });
    // The script also has its own limit: never more than this.
    const script = `mkfifo never; i=0; while [ $i -lt ${mostProcesses + 200} ]; do (read -r x <never) & i=$((i + 1)); done; sleep 30`;

    const bomb = await run({ script, timeoutMs: 60_000 });

    expect(bomb.outcome).toBe(Outcome.FAILED);
    expect((await run({ script: "echo fine" })).outcome).toBe(Outcome.SUCCEEDED);
  });
});
