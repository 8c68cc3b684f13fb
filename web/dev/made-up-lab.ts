import type { CaseComparison } from "#api/benchmark-comparison.ts";
import type { SuiteView } from "#api/benchmark-history.ts";
import type { ArtifactView } from "#api/benchmark-request.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import { FakeLab } from "./fake-lab.ts";
import { madeUpCollectors } from "./made-up-collectors.ts";
import {
  madeUpCase,
  madeUpComparison,
  madeUpMetrics,
  madeUpSummary,
  madeUpTestCase,
} from "./made-up-comparison.ts";
import { madeUpNoise } from "./made-up-noise.ts";
import { madeUpRequests } from "./made-up-requests.ts";
import { day, first, madeUpSearch, madeUpSeries, noise, tagOf } from "./made-up-series.ts";

const benchmarks = ["rxjs", "ethers", "@noble/curves", "ajv", "zod"];
const profiles = ["check", "emit", "declarations"];
const scenarios = ["full", "incr-full", "incr-unchanged", "incr-leaf", "incr-hub"];
const backends = ["js", "native"];

/** Returns this many cases of the suite, and made-up benchmarks when it has fewer. */
function madeUpCases(count: number): TestCase[] {
  const all: TestCase[] = [];
  for (let round = 0; all.length < count; round++) {
    for (const benchmark of benchmarks) {
      for (const profile of profiles) {
        for (const scenario of scenarios) {
          for (const backend of backends) {
            const name = round === 0 ? benchmark : `${benchmark.replace("/", "-")}-${round}`;
            all.push(madeUpTestCase({ benchmark: name, profile, scenario, backend }));
          }
        }
      }
    }
  }
  return all.slice(0, count);
}

/** Returns a lab with data for every page: this many cases, over this many nightlies. */
export function madeUpLab(now: Date, caseCount = 24, nights = 120): FakeLab {
  const lab = new FakeLab();
  const cases = madeUpCases(caseCount);
  lab.cases = cases;
  const dates = Array.from({ length: nights }, (_, n) => first + n * day);
  lab.suites = [suiteOf(cases, now, nights)];
  lab.artifacts = dates
    .map(
      (at, n): ArtifactView => ({
        tag: tagOf(at),
        kind: "master",
        datedAt: new Date(at).toISOString(),
        parent: n === 0 ? null : tagOf(at - day),
        commit: null,
        backends,
        state: "completed",
      }),
    )
    .toReversed();
  lab.series = (of, metric, samples) => madeUpSeries(of, metric, samples, dates);
  lab.noise = (of) => madeUpNoise(of, dates, now);
  lab.compare = (before, after, metric) => {
    const at = dates.findIndex((each) => tagOf(each) === after);
    const compared = cases.map((each, n) => comparedCase(each, metric, after, n));
    const side = (tag: string) => ({
      tag,
      datedAt: new Date(dates.find((each) => tagOf(each) === tag) ?? first).toISOString(),
      commit: null,
    });
    return madeUpComparison({
      before: side(before),
      after: { ...side(after), commit: "5f1c77aa905f1c77aa905f1c77aa905f1c77aa90" },
      contiguous: tagOf((dates[at] ?? 0) - day) === before,
      neighbours: {
        earlier: at > 1 ? tagOf(dates[at - 2] ?? 0) : null,
        later: at === -1 || at === dates.length - 1 ? null : tagOf(dates[at + 1] ?? 0),
      },
      metric,
      cases: compared,
      summaries: madeUpMetrics.map(({ name }) =>
        madeUpSummary(
          name,
          name === metric
            ? compared
            : cases.slice(0, 40).map((each, n) => comparedCase(each, name, after, n)),
        ),
      ),
      missing: cases.slice(0, 2).map((each) => ({
        case: each,
        missing: "after" as const,
        error: "error TS2345: no overload matches\n  at index.ts",
      })),
      newlyBroken: [
        {
          benchmark: "valibot",
          message:
            "src/index.ts(12,3): error TS2322: Type 'string' is not\nassignable to type 'never'.",
        },
      ],
    });
  };
  lab.requests = madeUpRequests(now, dates);
  lab.collectors = madeUpCollectors(now, lab.requests);
  lab.searches = [madeUpSearch(now, cases[0] ?? madeUpTestCase(), dates)];
  lab.alarms = ["collector barn-3 was last heard of 3 h ago; set 1 of linux-arm64 waits for it"];
  return lab;
}

function suiteOf(cases: readonly TestCase[], now: Date, artifacts: number): SuiteView {
  return {
    name: "typescript",
    description: "TypeScript compilers",
    digest: "d".repeat(64),
    changedBy: "ada",
    changedAt: now.toISOString(),
    metrics: [...madeUpMetrics],
    headline: "instructions",
    backends,
    targets: ["linux-x64"],
    sections: ["compile"],
    benchmarks: [...new Set(cases.map(({ benchmark }) => benchmark))].map((name, n) => ({
      section: "compile",
      name,
      set: n % 2,
    })),
    profiles,
    scenarios,
    artifacts,
    measured: artifacts,
  };
}

/** A verdict of each kind among the first ones; most cases did not change. */
function comparedCase(of: TestCase, metric: string, after: string, n: number): CaseComparison {
  const words = `${caseKey(of)} ${metric} ${after}`;
  const draw = noise(words);
  const isPaired = metric === "wall-time";
  const change = n % 6 === 1 ? (draw - 0.42) * 0.13 : (draw - 0.5) * 0.0022;
  const relevant = n % 6 === 1;
  const made = madeUpCase(of, {
    metric,
    change: metric === "types" && !relevant ? 0 : change,
    relevant,
    category: n % 5 === 4 ? "secondary" : "primary",
    magnitude: relevant ? (Math.min(5, 1 + Math.floor(Math.abs(change) * 60)) as 1) : 0,
    warnings: n % 13 === 7 ? ["the machine was busy beside it: load 1.4"] : [],
  });
  const base =
    metric === "types"
      ? 48_211
      : metric === "wall-time"
        ? 1.734
        : metric === "max-rss"
          ? 213e6
          : 1_027e6;
  const before = base * (0.6 + noise(caseKey(of)));
  const figures =
    metric === "types"
      ? { before: Math.round(before), after: Math.round(before * (1 + (made.change ?? 0))) }
      : { before, after: before * (1 + (made.change ?? 0)) };
  if (metric === "max-rss") {
    return {
      ...made,
      ...figures,
      relevant: false,
      significant: false,
      verdict: "undecided",
      magnitude: 0,
      evidence: { by: "hint" },
    };
  }
  if (!isPaired) return { ...made, ...figures };
  const isOpen = n % 11 === 3;
  return {
    ...made,
    ...figures,
    verdict: isOpen ? "undecided" : made.verdict,
    evidence: {
      by: "pairs",
      pairs: isOpen ? 20 : relevant ? 10 : 5,
      p: relevant ? 0.0001 : 0.31,
      adjustedP: relevant ? 0.0012 : 0.62,
      effect: change,
      low: change - 0.008 - (isOpen ? 0.02 : 0),
      high: change + 0.009 + (isOpen ? 0.02 : 0),
      limit: 0.012,
      confirmed: relevant ? n % 4 !== 3 : null,
    },
  };
}
