import type { BenchmarkSearchView, Series } from "#api/benchmark-history.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import { madeUpMetrics } from "./made-up-comparison.ts";

export const day = 86_400_000;
export const first = Date.parse("2025-05-22T00:00:00Z");

/** Returns the same number for the same words. */
export function noise(words: string): number {
  let state = 2_166_136_261;
  for (const letter of words) state = Math.imul(state ^ letter.charCodeAt(0), 16_777_619);
  return ((state >>> 0) % 10_000) / 10_000;
}

export const tagOf = (at: number) =>
  `nightly-${new Date(at).toISOString().slice(0, 10).replaceAll("-", "")}`;

export function madeUpSeries(
  of: TestCase,
  metric: string,
  samples: boolean,
  dates: readonly number[],
): Series {
  const definition = madeUpMetrics.find(({ name }) => name === metric) ?? madeUpMetrics[0];
  if (definition === undefined) throw new Error("there are metrics");
  const base = {
    instructions: 1_027e6,
    count: 48_211,
    seconds: 1.73,
    bytes: 213e6,
    "per-second": 900,
  }[definition.unit];
  const scatter = { exact: 0, deterministic: 0.003, noisy: 0.08 }[definition.nature];
  const own = 0.6 + noise(caseKey(of));
  const [up, down] = [Math.floor(dates.length * 0.45), Math.floor(dates.length * 0.8)];
  const level = (n: number) => (n >= down ? 0.79 : n >= up ? 1.11 : 1);
  const moved = Math.floor(dates.length * 0.9);
  const points = dates.flatMap((at, n) => {
    const words = `${caseKey(of)} ${metric} ${at}`;
    if (noise(`${words} gap`) < 0.08) return [];
    const raw = base * own * level(n) * (1 + (noise(words) - 0.5) * scatter * 2);
    const value = definition.unit === "count" ? Math.round(raw) : raw;
    return [
      {
        artifact: tagOf(at),
        datedAt: new Date(at).toISOString(),
        value,
        collector: "barn-1",
        fingerprint: n >= moved ? "9be0214c00" : "5f1c77aa90",
        ...(samples
          ? { samples: [0, 0.4, 1].map((k) => value * (1 + k * (scatter + 0.002))) }
          : {}),
      },
    ];
  });
  const step = (n: number, from: number, to: number, standing: "found" | "accepted") => {
    const at = points.findIndex(({ artifact }) => artifact >= tagOf(dates[n] ?? first));
    const after = points[at];
    const before = points[at - 1];
    if (after === undefined || before === undefined) return [];
    return [
      {
        artifact: after.artifact,
        before: before.artifact,
        meanBefore: base * own * from,
        meanAfter: base * own * to,
        change: to / from - 1,
        p: 0.0001,
        fingerprint: after.fingerprint,
        foundAt: after.datedAt,
        standing,
        statedBy: standing === "found" ? null : "ada",
        note: standing === "found" ? null : "the new checker, as was meant",
      },
    ];
  };
  return {
    suite: "typescript",
    case: of,
    metric: definition,
    kind: "master",
    points,
    changePoints: [...step(up, 1, 1.11, "found"), ...step(down, 1.11, 0.79, "accepted")],
  };
}

export function madeUpSearch(
  now: Date,
  of: TestCase,
  dates: readonly number[],
): BenchmarkSearchView {
  const { points } = madeUpSeries(of, "instructions", false, dates);
  const up = Math.floor(points.length * 0.45);
  const [before, after] = [points[up - 2], points[up + 3]];
  return {
    id: "22222222-0000-4000-8000-000000000001",
    suite: "typescript",
    kind: "bisect",
    case: of,
    metric: "instructions",
    from: points[0]?.artifact ?? "",
    to: points.at(-1)?.artifact ?? "",
    least: 0.01,
    state: "running",
    sentence: `The step of +11 % lies between ${before?.artifact} and ${after?.artifact}; the middle is being measured.`,
    artifacts: points.length,
    measured: 5,
    steps: [
      {
        before: before?.artifact ?? "",
        artifact: after?.artifact ?? "",
        change: 0.11,
        exact: false,
      },
    ],
    points: points.map(({ artifact, value }, n) => ({
      artifact,
      value:
        n === 0 || n === points.length - 1 || n === up - 2 || n === up + 3 || n % 29 === 14
          ? value
          : null,
    })),
    requestedBy: "ada",
    createdAt: new Date(now.getTime() - 3_600_000).toISOString(),
    endedAt: null,
  };
}
