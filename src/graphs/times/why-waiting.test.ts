import { expect, test } from "vitest";
import { WaitingReason } from "#api/waiting.ts";
import type { QueuePosition } from "#execution/claiming/queue-position.store.ts";
import type { WorkerOffer } from "#execution/claiming/worker-offers.store.ts";
import { type WaitingFacts, whyWaiting } from "./why-waiting.ts";

const now = new Date(Date.UTC(2030, 0, 1));
const inMs = (ms: number) => new Date(now.getTime() + ms);
const minute = 60_000;

/** Every reason must also match the schema of the API. */
const why = (facts: WaitingFacts) => WaitingReason.parse(whyWaiting(facts, now));

type Queued = Extract<QueuePosition, { kind: "queued" }>;

const offer = (changes: Partial<WorkerOffer> = {}): WorkerOffer => ({
  platform: { OSFamily: "linux", gpu: "none" },
  sizeClass: 1,
  condition: "alive",
  workers: 2,
  busy: 2,
  lastSeenAt: now,
  trouble: null,
  ...changes,
});
const nobodyAhead = { top: 0, sameInvocation: 0, others: 0, isMore: false };
const queued = (changes: Partial<Queued> = {}): WaitingFacts => ({
  kind: "in-queue",
  position: {
    kind: "queued",
    requirements: { OSFamily: "linux" },
    sizeClass: 1,
    isTop: false,
    isOverdue: false,
    offers: [offer()],
    freeAt: undefined,
    ahead: nobodyAhead,
    share: 0.25,
    laneRunning: 0,
    ...changes,
  },
});
const ready = (changes: Partial<Extract<WaitingFacts, { kind: "ready" }>> = {}): WaitingFacts => ({
  kind: "ready",
  preparingUntil: null,
  failures: 0,
  trouble: null,
  ahead: 0,
  ...changes,
});

const reasons: readonly {
  readonly facts: WaitingFacts;
  readonly kind: WaitingReason["kind"];
  readonly sentence: string;
}[] = [
  {
    facts: {
      kind: "blocked",
      jobs: [
        { name: "build", state: "running" },
        { name: "lint", state: "queued" },
      ],
      count: 4,
      root: { name: "build", state: "running", facts: null },
    },
    kind: "dependency",
    sentence: "waits for build and 3 others; build is running",
  },
  {
    facts: {
      kind: "blocked",
      jobs: [{ name: "test", state: "blocked" }],
      count: 1,
      root: {
        name: "build",
        state: "queued",
        facts: queued({ requirements: { OSFamily: "windows" } }),
      },
    },
    kind: "dependency",
    sentence:
      "waits for test; first of all, build waits for a worker with OSFamily=windows: workers offer OSFamily=linux",
  },
  {
    facts: {
      kind: "held",
      job: "approve",
      jobKind: "breakpoint",
      dueAt: inMs(5 * minute),
      repository: "rxjs",
      branch: "release",
      release: [],
      message: null,
    },
    kind: "person",
    sentence: "waits for a person to release it, and is given up in 5 min",
  },
  {
    facts: {
      kind: "held",
      job: "night",
      jobKind: "timer",
      dueAt: inMs(3 * 60 * minute),
      repository: "rxjs",
      branch: "",
      release: [],
      message: null,
    },
    kind: "time",
    sentence: "waits for its time, which comes in 3 h",
  },
  {
    facts: { kind: "outside" },
    kind: "outside",
    sentence: "waits until a machine outside the farm reports its result",
  },
  {
    facts: ready({ preparingUntil: inMs(10_000), ahead: 9 }),
    kind: "preparing",
    sentence: "is being prepared: its files are put together",
  },
  {
    facts: ready({ ahead: 1_200 }),
    kind: "preparing",
    sentence: "waits to be prepared, after about 1,200 other jobs",
  },
  {
    facts: ready({ preparingUntil: inMs(4_000), failures: 2, trouble: "the disk is full" }),
    kind: "preparing",
    sentence: "could not be prepared 2 times, and is tried again in 4 s: the disk is full",
  },
  {
    facts: { kind: "limited", limit: "the most workers of talos", most: 3 },
    kind: "limit",
    sentence: "waits because the most workers of talos allows 3 runs at the same time",
  },
  {
    facts: queued({ requirements: { OSFamily: "linux", gpu: "cuda" } }),
    kind: "capacity-none",
    sentence: "waits for a worker with gpu=cuda: workers offer gpu=none",
  },
  {
    facts: queued({ requirements: { camera: "yes" } }),
    kind: "capacity-none",
    sentence: "waits for a worker with camera=yes: none of 2 workers offers camera",
  },
  {
    facts: queued({ requirements: { OSFamily: "linux", "container-image": "docker://node:22" } }),
    kind: "capacity-none",
    sentence: "waits for a worker that runs container images: none of 2 workers does",
  },
  {
    facts: queued({
      requirements: { OSFamily: "linux", gpu: "cuda" },
      offers: [offer(), offer({ platform: { OSFamily: "windows", gpu: "cuda" } })],
    }),
    kind: "capacity-none",
    sentence:
      "waits for a worker with gpu=cuda: those with it lack something else that it asks for",
  },
  {
    facts: queued({ offers: [] }),
    kind: "capacity-none",
    sentence: "waits for a worker: none is connected",
  },
  {
    facts: queued({
      offers: [offer({ condition: "silent", lastSeenAt: inMs(-7 * minute), workers: 3 })],
    }),
    kind: "capacity-none",
    sentence:
      "waits for a worker: 3 workers could run it, and the last message of any came 7 min ago",
  },
  {
    facts: queued({ offers: [offer({ condition: "draining", workers: 1 })] }),
    kind: "capacity-none",
    sentence: "waits for a worker: 1 worker could run it, but takes nothing new",
  },
  {
    facts: queued({
      offers: [offer({ condition: "draining", workers: 1, trouble: "ENOSPC: no space left" })],
    }),
    kind: "capacity-none",
    sentence:
      "waits for a worker: 1 worker could run it, but runs nothing at present (ENOSPC: no space left)",
  },
  {
    facts: queued({ sizeClass: 4, offers: [offer(), offer({ sizeClass: 2, workers: 1 })] }),
    kind: "capacity-size",
    sentence:
      "waits for a worker of size class 4 or more: 3 workers could run it except for the size, 2 at most",
  },
  {
    facts: queued({ freeAt: inMs(90_000) }),
    kind: "capacity-busy",
    sentence:
      "is next: all 2 workers that could run it are busy, the first is expected to be free in 90 s",
  },
  {
    facts: queued({ offers: [offer({ workers: 1, busy: 1 })] }),
    kind: "capacity-busy",
    sentence: "is next: the one worker that could run it is busy",
  },
  {
    facts: queued({ ahead: { top: 2, sameInvocation: 1_000, others: 3, isMore: true } }),
    kind: "priority",
    sentence:
      "waits for its turn: at least 1,005 go first (2 of the top class, 1,000 of the same graph, 3 of others) on 2 workers; its graph's share is 25 %",
  },
  {
    facts: queued({ isOverdue: true, ahead: { ...nobodyAhead, others: 7 } }),
    kind: "priority",
    sentence:
      "waits for its turn: about 7 go first (7 of others) on 2 workers; it has waited so long that only older ones go first",
  },
  {
    facts: queued({ isTop: true, ahead: { ...nobodyAhead, top: 1 } }),
    kind: "priority",
    sentence:
      "waits for its turn: about 1 goes first (1 of the top class) on 2 workers; it is of the top class",
  },
  {
    facts: queued({ offers: [offer({ busy: 1 })] }),
    kind: "starting",
    sentence: "is next, and a worker is free",
  },
  {
    facts: { kind: "in-queue", position: { kind: "leased", worker: "mac-7", away: undefined } },
    kind: "starting",
    sentence: "was assigned to worker mac-7, which is about to start it",
  },
  {
    facts: {
      kind: "in-queue",
      position: {
        kind: "leased",
        worker: "mac-7",
        away: {
          lastSeenAt: new Date(now.getTime() - 60_000),
          leasedUntil: new Date(now.getTime() + 1_140_000),
        },
      },
    },
    kind: "starting",
    sentence:
      "was assigned to worker mac-7, whose last message came 60 s ago; when its lease ends, in 19 min, another one gets it",
  },
];

test.each(reasons)("$kind: $sentence", ({ facts, kind, sentence }) => {
  expect(why(facts)).toMatchObject({ kind, sentence });
});

test("a worker that is too small or silent is not the reason while another suitable one is busy", () => {
  const offers = [
    offer({ condition: "silent" }),
    offer({ sizeClass: 1 }),
    offer({ sizeClass: 2, workers: 1, busy: 1 }),
  ];

  expect(why(queued({ sizeClass: 2, offers }))).toMatchObject({
    kind: "capacity-busy",
    workers: 1,
  });
});

test("a worker above the largest requested class does not fit, and no property is named for it", () => {
  const bounded = { requirements: { OSFamily: "linux", "max-size-class": "2" }, sizeClass: 2 };
  const offers = [offer({ busy: 0 }), offer({ sizeClass: 4, busy: 0 })];

  const reason = why(queued({ ...bounded, offers }));

  expect(reason.sentence).toBe(
    "waits for a worker of size class 2: 4 workers could run it except for the size (1, 4)",
  );
  expect(reason.advice).not.toContain("max-size-class");
  expect(why(queued({ ...bounded, offers: [offer({ sizeClass: 2, busy: 0 })] })).kind).toBe(
    "starting",
  );
});

test("properties that configure the farm are not required of workers", () => {
  const requirements = { OSFamily: "linux", network: "off", cpus: "64" };

  expect(why(queued({ requirements }))).toMatchObject({ kind: "capacity-busy" });
});

test("advice for the first job of the chain is also advice for the job that waits for it", () => {
  const approve: WaitingFacts = {
    kind: "held",
    job: "approve",
    jobKind: "breakpoint",
    dueAt: null,
    repository: "rxjs",
    branch: "release",
    release: ["alice", "qa-*"],
    message: "look at the nightly",
  };

  expect(
    why({
      kind: "blocked",
      jobs: [{ name: "ship", state: "blocked" }],
      count: 1,
      root: { name: "approve", state: "waiting", facts: approve },
    }),
  ).toMatchObject({
    sentence: "waits for ship; first of all, approve waits for a person to release it",
    advice: 'alice or qa-* may release it, with the grant "release" on release of rxjs',
  });
});

test("a job that waits for a class without a running worker shows that, until one starts", () => {
  const declared = [{ platform: { OSFamily: "linux" }, sizeClass: 4, workers: 0 }];
  const small = offer({ sizeClass: 1 });
  const facts = (offers: readonly WorkerOffer[]) => queued({ sizeClass: 2, offers: [...offers] });

  const before = WaitingReason.parse(whyWaiting(facts([small]), now, declared));
  const unfit = whyWaiting(facts([small]), now, [
    { platform: { OSFamily: "linux" }, sizeClass: 1, workers: 0 },
  ]);
  const after = whyWaiting(facts([small, offer({ sizeClass: 2 })]), now, declared);

  expect(before).toMatchObject({
    kind: "capacity-none",
    sentence:
      "waits for a worker of size class 4 to be started: the class is declared, and no worker of it is running",
  });
  expect([unfit.kind, after.kind]).toEqual(["capacity-size", "capacity-busy"]);
});
