import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defaultSettings } from "#size-classes/settings.ts";
import { strategyNames } from "#size-classes/strategy.ts";
import { chooserNamed, chooserNames } from "./choosers.ts";
import { figuresOf } from "./figures.ts";
import type { RunRecord, Simulated } from "./records.ts";
import { simulate } from "./simulate.ts";
import { aHeader, anExecution, randomStrategy, traces } from "./trace.fixture.ts";
import type { Trace } from "./trace.ts";
import { standardTraces } from "./traces/standard-traces.ts";

const choosers = fc.oneof(
  fc.integer().map(randomStrategy),
  fc.constantFrom(...chooserNames).map((name) => chooserNamed(name, defaultSettings)),
);
const farms = fc.tuple(traces, choosers, fc.integer({ min: 0, max: 2 ** 32 - 1 }));

function workerOf({ classIndex, worker }: RunRecord): string {
  return `${classIndex}/${worker}`;
}

/** Returns the invariants of every simulation that this one violates. */
function brokenLaws(trace: Trace, { executions, runs, workers }: Simulated): string[] {
  const broken: string[] = [];
  const law = (holds: boolean, said: string) => {
    if (!holds) broken.push(said);
  };
  law(executions.length === trace.executions.length, "each execution has one end");
  for (const [index, each] of executions.entries()) {
    const { submittedAt, startedAt, endedAt } = each;
    law(submittedAt === trace.executions[index]?.at, `${index} is submitted when the trace says`);
    law(submittedAt <= startedAt && startedAt <= endedAt, `${index} begins before it ends`);
    const won = runs.filter(
      ({ execution, purpose, end }) =>
        execution === index && purpose !== "background" && end === "succeeded",
    );
    law(won.length === (each.end === "succeeded" ? 1 : 0), `${index} succeeds once, if it does`);
  }
  for (const worker of workers) {
    const name = `${worker.classIndex}/${worker.id}`;
    const own = runs
      .filter((run) => workerOf(run) === name)
      .sort((one, other) => one.startedAt - other.startedAt || one.endedAt - other.endedAt);
    let free = worker.since;
    let busyMs = 0;
    for (const run of own) {
      law(run.startedAt >= free, `worker ${name} does one thing at a time`);
      law(run.endedAt <= worker.until, `worker ${name} is paid while it works`);
      free = run.endedAt;
      busyMs += run.endedAt - run.startedAt;
    }
    law(worker.busyMs === busyMs, `worker ${name} is busy with its runs`);
  }
  return broken;
}

describe("a simulation", () => {
  test("ends each execution once, and no worker executes two runs at a time", () => {
    fc.assert(
      fc.property(farms, ([trace, chooser, seed]) => {
        expect(brokenLaws(trace, simulate(trace, chooser, seed))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test("of the same trace, strategy and seed is the same", () => {
    fc.assert(
      fc.property(farms, ([trace, chooser, seed]) => {
        const text = () => JSON.stringify(simulate(trace, chooser, seed));
        expect(text()).toBe(text());
      }),
      { numRuns: 50 },
    );
  });

  test("costs what its workers cost, busy and idle", () => {
    fc.assert(
      fc.property(farms, ([trace, chooser, seed]) => {
        const simulated = simulate(trace, chooser, seed);
        const { totalCost, busyCost, idleCost } = figuresOf(trace, simulated, seed);
        const price = (index: number) => (trace.header.classes[index]?.price ?? 0) / 1000;
        const { workers } = simulated;
        const busy = workers.reduce((sum, each) => sum + price(each.classIndex) * each.busyMs, 0);
        expect(busyCost).toBeCloseTo(busy, 6);
        expect(idleCost).toBeGreaterThan(-1e-6);
        expect(totalCost).toBeCloseTo(busyCost + idleCost, 6);
      }),
      { numRuns: 100 },
    );
  });

  test.each(Object.entries(standardTraces))("of %s keeps these invariants", (_name, make) => {
    const whole = make(3);
    const trace = { ...whole, executions: whole.executions.slice(0, 800) };
    for (const name of strategyNames)
      expect(brokenLaws(trace, simulate(trace, chooserNamed(name, defaultSettings), 3))).toEqual(
        [],
      );
  });
});

describe("the oracle", () => {
  test("is not worse than any strategy, with enough workers and without chance", () => {
    const idle = traces.map(({ executions }) => ({
      header: aHeader(),
      executions: executions.map((each) => ({ ...each, flakyRate: 0 })),
    }));
    fc.assert(
      fc.property(idle, choosers, (trace, other) => {
        const [known, guessed] = [chooserNamed("oracle", defaultSettings), other].map((chooser) =>
          perExecution(trace, simulate(trace, chooser, 1)),
        );
        const beaten = known?.filter(({ ended, cost }, index) => {
          const rival = guessed?.[index];
          // A strategy that gives up earlier is cheaper, but no better.
          if (rival?.ended !== "succeeded") return false;
          return ended !== "succeeded" || cost > rival.cost + 1e-9;
        });
        expect(beaten).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

/** Price × time and time, for each execution. */
function perExecution({ header }: Trace, { executions, runs }: Simulated) {
  return executions.map(({ end, submittedAt, endedAt }, index) => ({
    ended: end,
    cost: runs
      .filter(({ execution }) => execution === index)
      .reduce(
        (sum, run) =>
          sum + (header.classes[run.classIndex]?.price ?? 0) * (run.endedAt - run.startedAt),
        defaultSettings.priceOfDelay * (endedAt - submittedAt),
      ),
  }));
}

describe("workers", () => {
  const one = { kind: "elastic", most: 1, startDelayMs: 5_000, idleMs: 10_000 } as const;

  test("of an elastic pool are paid from the request until the end of their idle time", () => {
    const trace = { header: aHeader({}, one), executions: [anExecution()] };

    const { workers, executions } = simulate(trace, chooserNamed("smallest", defaultSettings), 1);

    expect(workers).toEqual([{ classIndex: 0, id: 0, since: 0, until: 16_000, busyMs: 1_000 }]);
    expect(executions[0]).toMatchObject({ startedAt: 5_000, endedAt: 6_000 });
  });

  test("of a larger class take runs that are not exact when they have none of their own", () => {
    const header = aHeader({}, { kind: "fixed", workers: 1 });
    const trace = { header, executions: [anExecution(), anExecution(), anExecution()] };
    const smallest = chooserNamed("smallest", defaultSettings);
    const loose = {
      ...smallest,
      choose: (...args: Parameters<typeof smallest.choose>) => ({
        ...smallest.choose(...args),
        isExact: false,
      }),
    };

    const classes = (chooser: typeof smallest) =>
      simulate(trace, chooser, 1).runs.map(({ classIndex }) => classIndex);

    expect(classes(smallest)).toEqual([0, 0, 0]);
    expect(classes(loose)).toEqual([0, 1, 2]);
  });
});

test("a second run ends the first, which is stored as too slow", () => {
  const execution = anExecution({ serialMs: 0, parallelMs: 8_000, width: 4 });
  const trace = { header: aHeader(), executions: [execution, { ...execution, at: 60_000 }] };
  const smallest = chooserNamed("smallest", defaultSettings);
  const heard: unknown[] = [];
  const hedging = {
    ...smallest,
    choose: (...args: Parameters<typeof smallest.choose>) => {
      const [own] = args[0].histories;
      heard.push([...(own?.runs ?? [])].map(([size, runs]) => [size, runs.map(({ end }) => end)]));
      return { ...smallest.choose(...args), hedge: { afterMs: 1_000, sizeClass: 4 } };
    },
  };

  const { runs } = simulate(trace, hedging, 1);

  expect(runs.slice(0, 2).map(({ end, purpose, endedAt }) => [purpose, end, endedAt])).toEqual([
    ["hedge", "succeeded", 3_000],
    ["first", "cancelled", 3_000],
  ]);
  expect(heard[1]).toEqual(
    expect.arrayContaining([
      [4, ["succeeded"]],
      [1, ["timed_out"]],
    ]),
  );
});

test("an execution that is lost repeatedly ends, and reports that", () => {
  const trace = { header: aHeader({ lostRate: 1 }), executions: [anExecution()] };

  const { executions, runs } = simulate(trace, chooserNamed("grange", defaultSettings), 1);

  expect(executions[0]?.end).toBe("lost");
  expect(runs).toHaveLength(5);
});
