import type {
  ExecutionSizeClass,
  SizeClassAlternative,
  SizeClassDecision,
  SizeClassDetail,
  SizeClasses,
  SizeClassKeyDetail,
  SizeClassKeySummary,
  SizeClassNow,
  SizeClassPastRun,
  SizeClassSettingValues,
} from "#api/size-class.ts";

/** The same numbers at every start. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const platform = { ISA: "x86-64", OSFamily: "linux" };
const madeUpPlatform = "ISA=x86-64, OSFamily=linux";

export const defaultSettings: SizeClassSettingValues = {
  strategy: "grange",
  priceOfDelay: 1,
  greaterMayTake: true,
  acceptableIncreaseExponent: 0.5,
  timeoutMultiplier: 1.5,
  minimumAcceptableMs: 10_000,
  failureBoostMs: 86_400_000,
  convergenceError: 0.002,
  mostBackgroundRuns: 1_000,
};

function aClass(sizeClass: number, changes: Partial<SizeClassNow>): SizeClassNow {
  return {
    sizeClass,
    isDeclared: false,
    workers: 3,
    draining: 0,
    silent: 0,
    slots: 12,
    busy: 7,
    queued: 0,
    expectedWaitMs: 0,
    cpus: sizeClass,
    memoryBytes: sizeClass * 2_000_000_000,
    price: sizeClass,
    runs: 4_100,
    executions: 4_020,
    share: 0.71,
    busySeconds: 17_400,
    cost: 17_400 * sizeClass,
    saved: { amount: 9_820.4, executions: 3_900, unknown: 120 },
    ...changes,
  };
}

export function madeUpClasses(now: Date): SizeClasses {
  const since = new Date(now.getTime() - 86_400_000).toISOString();
  const classes = [
    aClass(1, {}),
    aClass(2, {
      busy: 12,
      queued: 41,
      expectedWaitMs: 42_000,
      draining: 1,
      runs: 1_400,
      executions: 1_310,
      share: 0.23,
      busySeconds: 11_900,
      cost: 23_800,
      saved: { amount: 2_310, executions: 1_280, unknown: 30 },
    }),
    aClass(8, {
      isDeclared: true,
      workers: 1,
      slots: 2,
      busy: 0,
      runs: 345,
      executions: 340,
      share: 0.06,
      busySeconds: 3_400,
      cost: 27_200,
      saved: { amount: -120, executions: 338, unknown: 2 },
    }),
  ];
  const noRuns = { runs: 0, executions: 0, share: null, busySeconds: 0, cost: 0 };
  const nothing = { amount: 0, executions: 0, unknown: 0 };
  return {
    lately: { since, executions: 5_670, isCut: false },
    platforms: [
      {
        name: madeUpPlatform,
        platform,
        classes,
        saved: { amount: 12_010.4, executions: 5_518, unknown: 152 },
      },
      {
        name: "ISA=aarch64, OSFamily=linux",
        platform: { ISA: "aarch64", OSFamily: "linux" },
        classes: [
          aClass(4, {
            ...noRuns,
            isDeclared: true,
            workers: 0,
            silent: 1,
            slots: 0,
            busy: 0,
            queued: 2,
            expectedWaitMs: 60_000,
            memoryBytes: null,
            saved: nothing,
          }),
        ],
        saved: nothing,
      },
    ],
    saved: { amount: 12_010.4, executions: 5_518, unknown: 152 },
  };
}

export function madeUpKeys(now: Date): SizeClassKeySummary[] {
  const mnemonics = ["CppLink", "TestRunner", "CppCompile", "Genrule"];
  return Array.from({ length: 60 }, (_, n) => ({
    project: n % 9 === 8 ? "team/app" : "default",
    domain: n % 7 === 6 ? "pr/12" : "protected",
    key: `${n % 10 === 9 ? "m" : "a"}:made-up-${n}`,
    level: n % 10 === 9 ? ("mnemonic" as const) : ("action" as const),
    title: `${mnemonics[n % 4]} //lib/store:unit_${n}`,
    executions: 400 - n * 6,
    busySeconds: 9_000 / (n + 1),
    cost: 21_000 / (n + 1),
    lastSeenAt: new Date(now.getTime() - n * 340_000).toISOString(),
  }));
}

const alternative = (
  sizeClass: number,
  expectedMs: number,
  changes: Partial<SizeClassAlternative> = {},
): SizeClassAlternative => ({
  sizeClass,
  expectedMs,
  band: { fastMs: expectedMs * 0.6, slowMs: expectedMs * 1.9 },
  waitMs: 0,
  cost: (sizeClass * expectedMs) / 1_000,
  risk: 0.02,
  probability: null,
  remark: null,
  ...changes,
});

const alternatives = [
  alternative(1, 64_000, {
    risk: 0.34,
    cost: 96,
    remark: "ran out of memory here 2 times, with 2.0 GB",
  }),
  alternative(2, 31_000),
  alternative(8, 14_500, { waitMs: 42_000, band: { fastMs: 9_000, slowMs: 24_000 } }),
];

export const sizedExecution = "5ec0d000-0000-4000-8000-00000000000a";

/** The decisions for an execution that ran out of memory on a small class, and completed on the next. */
function madeUpDecisions(id: string, now: Date, title: string): SizeClassDecision[] {
  const at = (seconds: number) => new Date(now.getTime() - 600_000 + seconds * 1_000).toISOString();
  const run = {
    executionId: id,
    worker: "barn-1",
    message: "",
    timeoutMs: 120_000,
    exitCode: null,
    cpuMs: 41_000,
  };
  const shared = {
    executionId: id,
    project: "default",
    domain: "protected",
    key: "a:made-up-0",
    level: "action" as const,
    title,
    strategy: "grange",
    timeoutMs: 120_000,
    draw: 0.4711,
    isExact: false,
  };
  return [
    {
      ...shared,
      number: 1,
      purpose: "first",
      decidedAt: at(0),
      sizeClass: 1,
      expectedMs: 64_000,
      reason: {
        kind: "exploring",
        text: "little is known of it here, and trying costs less than it may save",
      },
      alternatives: alternatives.map((each) =>
        each.sizeClass === 1 ? { ...each, remark: null, risk: 0.11, cost: 66 } : each,
      ),
      runs: [
        {
          ...run,
          attempt: 1,
          sizeClass: 1,
          startedAt: at(1),
          finishedAt: at(45),
          durationMs: 44_000,
          outcome: "out_of_memory",
          peakMemoryBytes: 2_000_000_000,
        },
      ],
      sentences: [
        "Size class 1 was chosen: little is known of it here, and trying costs less than it may save.",
        "It was expected to run for 1 min 04 s, between 38.4 s and 2 min 02 s eight times in ten, and allowed 2 min 00 s.",
        "It ran on size class 1 for 44.0 s, used 41.0 s of CPU and 1.86 GiB of memory at most, and ran out of memory.",
      ],
    },
    {
      ...shared,
      number: 2,
      purpose: "retry",
      decidedAt: at(45),
      sizeClass: 2,
      expectedMs: 31_000,
      reason: {
        kind: "retry-after-out-of-memory",
        text: "it ran out of memory on size class 1, and size class 2 is the next with more",
      },
      alternatives,
      runs: [
        {
          ...run,
          worker: "barn-2",
          attempt: 2,
          sizeClass: 2,
          startedAt: at(46),
          finishedAt: at(78),
          durationMs: 32_000,
          outcome: "succeeded",
          exitCode: 0,
          peakMemoryBytes: 2_700_000_000,
        },
      ],
      sentences: [
        "Size class 2 was chosen for another try: it ran out of memory on size class 1, and size class 2 is the next with more.",
        "It was expected to run for 31.0 s, between 18.6 s and 58.9 s eight times in ten, and allowed 2 min 00 s.",
        "Size class 1: ran out of memory here 2 times, with 2.0 GB.",
        "It ran on size class 2 for 32.0 s, used 41.0 s of CPU and 2.51 GiB of memory at most, and succeeded.",
      ],
    },
  ];
}

export function madeUpSizeClassOf(id: string, now: Date, isSized: boolean): ExecutionSizeClass {
  const decisions = isSized ? madeUpDecisions(id, now, "CppLink //lib/store:unit_0") : [];
  return {
    executionId: id,
    secondRunOf: null,
    state: "finished",
    sizeClass: isSized ? 2 : 1,
    leastSizeClass: 1,
    mostSizeClass: null,
    sentence: isSized
      ? "Size class 1 was chosen first, and size class 2 in the end."
      : "Nothing was chosen: only one size class could run it when it came, and it asks for 1 or greater.",
    decisions,
  };
}

export function madeUpKey(of: SizeClassKeySummary, now: Date): SizeClassKeyDetail {
  const next = random(of.key.length * 7 + of.executions);
  const runs = (sizeClass: number, count: number): SizeClassPastRun[] =>
    Array.from({ length: count }, (_, n) => {
      const outOfMemory = sizeClass === 1 && n % 5 === 2;
      const timedOut = sizeClass === 1 && n === count - 1;
      const durationMs = (62_000 / sizeClass ** 0.7) * (0.6 + next() ** 3 * 2);
      return {
        end: outOfMemory
          ? "out_of_memory"
          : timedOut
            ? "timed_out"
            : n % 11 === 7
              ? "failed"
              : "succeeded",
        durationMs: timedOut ? 120_000 : outOfMemory ? durationMs / 2 : durationMs,
        timeoutMs: 120_000,
        cpuMs: 41_000 + next() * 9_000,
        peakMemoryBytes: outOfMemory ? 2e9 : Math.min(sizeClass * 2e9, 1.6e9 + next() * 1.4e9),
        at: new Date(now.getTime() - (count - n) * 2_700_000 - sizeClass * 9_000).toISOString(),
      };
    });
  const { executions: _, busySeconds: __, cost: ___, ...address } = of;
  return {
    ...address,
    lastSeenAt: of.lastSeenAt ?? now.toISOString(),
    lastFailureAt: null,
    failuresInARow: 0,
    classes: alternatives.map((estimate) => ({
      sizeClass: estimate.sizeClass,
      runs: runs(
        estimate.sizeClass,
        estimate.sizeClass === 1 ? 14 : estimate.sizeClass === 2 ? 32 : 3,
      ),
      estimate,
    })),
    decisions: madeUpDecisions(sizedExecution, now, of.title)
      .map((decision) => ({ ...decision, ...address }))
      .toReversed(),
  };
}

export function madeUpHours(now: Date, of: SizeClassNow): SizeClassDetail["hours"] {
  const latest = Math.floor(now.getTime() / 3_600_000);
  return Array.from({ length: 24 }, (_, n) => {
    const isDay = n % 24 > 4 && n % 24 < 20;
    const part = of.runs === 0 ? 0 : isDay ? 0.05 + ((n * 37) % 11) / 300 : 0.004;
    return {
      from: new Date((latest - 23 + n) * 3_600_000).toISOString(),
      runs: Math.round(of.runs * part),
      busySeconds: of.busySeconds * part,
      cost: of.cost * part,
    };
  });
}
