import type { JobSummary } from "#api/graph.ts";
import { addMadeUpInvocations } from "./add-made-up-invocations.ts";
import { FakeFarm } from "./fake-farm.ts";
import { largePlan, madeUpGraph, type Plan, smallPlan } from "./made-up-graph.ts";
import { buildLog, hostileLog, longLog } from "./made-up-log.ts";

const subjects = [
  "Return jobs whose lease has run out",
  "Wake workers by notification, not by polling",
  "Refuse a result whose blobs are not in the store",
  "Measure the whole process tree, not the first process",
  "Say which file and line a definition is wrong in",
  "Keep a log whole on disk before it is sent",
];

/** A farm with data for every page. */
export function madeUpFarm(now: Date): FakeFarm {
  const farm = new FakeFarm();
  const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
  const about = (n: number, minutes: number) => ({
    repository: "grange",
    subject: subjects[n % subjects.length] ?? "",
    author: n % 2 === 0 ? "Ada Ackerman" : "Bram Bauer",
    rev: n % 3 === 0 ? "main" : `topic/${n}`,
    createdAt: ago(minutes),
  });

  for (let n = 0; n < 70; n++) {
    const graph = farm.add(
      madeUpGraph(n === 0 ? "older" : `past-${n}`, smallPlan, about(n, 45 + n * 37)),
    );
    finish(
      farm,
      graph.id,
      smallPlan,
      graph.createdAt,
      n % 5 === 2 ? new Set(["unit/cas"]) : new Set(),
    );
  }
  farm.add(madeUpGraph("now", smallPlan, about(0, 2)));
  halfWay(farm, "now", ago(2));

  const large = largePlan(1_000);
  farm.add(madeUpGraph("large", large, { ...about(3, 30), repository: "browser" }));
  finish(
    farm,
    "large",
    large,
    ago(30).toISOString(),
    new Set(["fuzz/macos-arm64/54", "unit/linux-arm64/101", "talos/linux-x64/96"]),
  );

  addMadeUpInvocations(farm, now);
  farm.append("now", "unit/core", 1, buildLog("unit"), false);
  farm.append("older", "types", 1, buildLog("types"), true);
  farm.append("older", "lint", 1, longLog(100_000), true);
  farm.append("older", "format", 1, hostileLog, true);
  farm.append("past-2", "unit/cas", 1, buildLog("unit/cas"), true);
  farm.append("past-2", "unit/cas", 2, buildLog("unit/cas"), true);

  const facilities = {
    namespaces: "user, mount, pid, network",
    cgroup: "v2",
    limits: "memory, pids",
    "not stopped": "uses all memory, uses all memory as files in /dev/shm (without --memory)",
  };
  for (let n = 1; n <= 4; n++) {
    farm.workers.push({
      name: `barn-${n}`,
      platform: { OSFamily: "linux", ISA: n === 4 ? "aarch64" : "x86-64" },
      sizeClass: n === 1 ? 1 : n === 4 ? 8 : 2,
      slots: n,
      cpus: n === 1 ? null : n,
      memoryBytes: n === 1 ? null : n * 2 * 1024 ** 3,
      state: n === 4 ? "lost" : n === 2 ? "busy" : n === 3 ? "draining" : "idle",
      facilities,
      version: "0.1.0",
      transport: n === 3 ? "ssh" : "pull",
      host: `barn-${n}`,
      principal: "anyone",
      quarantine: null,
      trouble: null,
      registeredAt: ago(600).toISOString(),
      lastSeenAt: (n === 4 ? ago(14) : now).toISOString(),
      running:
        n === 2
          ? [{ executionId: "x-1", graphId: "now", job: "unit/core", since: ago(1).toISOString() }]
          : [],
      finishedCount: 412 * n,
      endingCount: 0,
      heldCount: n === 2 ? 1 : 0,
    });
  }
  return farm;
}

function finish(
  farm: FakeFarm,
  id: string,
  plan: Plan,
  startedAt: string,
  failing: ReadonlySet<string>,
): void {
  const endAt = new Map<string, number>();
  const failed = new Map<string, string>();
  const patches: Record<string, Partial<JobSummary>> = {};
  plan.forEach(([name, ...on], index) => {
    const ready = Math.max(Date.parse(startedAt), ...on.map((each) => endAt.get(each) ?? 0));
    const cause = on.map((each) => failed.get(each)).find((each) => each !== undefined);
    const start = ready + 400;
    const end = start + 1_500 + ((index * 7_919) % 23_000);
    const time = (ms: number) => new Date(ms).toISOString();
    if (cause !== undefined) {
      failed.set(name, cause);
      patches[name] = { state: "unreachable", reason: `skipped because ${cause} failed` };
      return;
    }
    endAt.set(name, end);
    if (failing.has(name)) failed.set(name, name);
    const cached = index % 6 === 1 && !failing.has(name);
    patches[name] = {
      state: failing.has(name) ? "failed" : "succeeded",
      cached,
      runs: failing.has(name) ? 2 : 1,
      reason: failing.has(name)
        ? "the command exited with code 1"
        : cached
          ? "cached from an older graph"
          : null,
      readyAt: time(ready),
      startedAt: cached ? null : time(start),
      finishedAt: time(cached ? ready : end),
    };
  });
  farm.change(id, patches);
}

function halfWay(farm: FakeFarm, id: string, startedAt: Date): void {
  const time = (seconds: number) => new Date(startedAt.getTime() + seconds * 1_000).toISOString();
  const done = (from: number, to: number): Partial<JobSummary> => ({
    state: "succeeded",
    runs: 1,
    readyAt: time(from - 1),
    startedAt: time(from),
    finishedAt: time(to),
  });
  const running = (from: number): Partial<JobSummary> => ({
    state: "running",
    runs: 1,
    readyAt: time(from - 1),
    startedAt: time(from),
  });
  const skipped: Partial<JobSummary> = {
    state: "unreachable",
    reason: "skipped because lint failed",
  };
  farm.change(id, {
    install: done(1, 14),
    lint: { ...done(15, 21), state: "failed", runs: 2, reason: "the command exited with code 1" },
    format: {
      ...done(15, 15),
      cached: true,
      startedAt: null,
      reason: "cached from format of 8c1f02a",
    },
    proto: {
      ...done(15, 15),
      cached: true,
      startedAt: null,
      reason: "cached from proto of 8c1f02a",
    },
    types: done(15, 38),
    "unit/core": running(39),
    "unit/cas": done(39, 71),
    "unit/execution": running(72),
    "unit/graphs": { state: "queued", readyAt: time(39), reason: "waits for a worker" },
    "build/pages": done(40, 66),
    "build/server": running(67),
    "build/worker": { state: "ready", readyAt: time(90) },
    image: { reason: "waits for build/server, build/worker" },
    docs: { state: "cancelled", finishedAt: time(30), reason: "cancelled by a person" },
    publish: skipped,
  });
}
