import type { BenchmarkSearchView } from "#api/benchmark-history.ts";
import { atMost, exactly, forInformation, type Measurement, type Row } from "../row.ts";
import { startRealLab } from "./real-lab.ts";

const from = "nightly-20250522";
const to = "nightly-20261021";
const least = 0.02;
const how = `instructions under cachegrind, rxjs, check, full; nightlies of the native compiler from ${from} to ${to}`;

export const nativeHistory: Measurement = {
  title: "the native line: scan, change points, bisect",
  long: true,
  async measure() {
    const lab = await startRealLab([["rxjs"]]);
    try {
      // Two artifacts without a request: a request makes the farm check for published versions.
      for (const artifact of [from, to]) {
        const { request } = await lab.request({
          suite: "typescript",
          artifact,
          backends: ["native"],
          parents: "alone",
        });
        await lab.untilEnded(request.id);
      }
      const search = async (kind: BenchmarkSearchView["kind"]) => {
        const startedAt = Date.now();
        const { id } = await lab.search({
          suite: "typescript",
          kind,
          case: {
            section: "compile",
            benchmark: "rxjs",
            profile: "check",
            scenario: "full",
            backend: "native",
            target: "linux-x64",
          },
          metric: "instructions",
          from,
          to,
          least,
          ...(kind === "scan" ? { every: "month" as const } : {}),
        });
        return { ...(await lab.untilFound(id)), minutes: (Date.now() - startedAt) / 60_000 };
      };
      const scan = await search("scan");
      const refined = await search("change-points");
      const bisected = await search("bisect");
      return [
        forInformation(
          "native line: nightlies from the first to the last",
          scan.artifacts,
          "nightlies",
          how,
        ),
        forInformation(
          "native line: measured for a scan by months",
          scan.points.filter(({ value }) => value !== null).length,
          "nightlies",
          `${how}; ${scan.minutes.toFixed(1)} min`,
        ),
        forInformation(
          "native line: measured then to place each step of 2 % or more",
          refined.measured,
          "nightlies",
          `${refined.steps.length} steps; ${refined.minutes.toFixed(1)} min`,
        ),
        ...stepRows(refined),
        ...bisectRows(bisected, scan.measured + refined.measured + bisected.measured + 2),
      ];
    } finally {
      await lab.stop();
    }
  },
};

function stepRows({ steps }: BenchmarkSearchView): Row[] {
  return [
    exactly(
      "native line: steps that stand between neighbours, or around what cannot be measured",
      steps.filter(({ exact }) => exact).length,
      steps.length,
      `of ${steps.length}`,
      steps.map(({ artifact, change }) => `${artifact} ${(change * 100).toFixed(1)} %`).join("; "),
    ),
  ];
}

function bisectRows(found: BenchmarkSearchView, measured: number): Row[] {
  const step = found.steps[0];
  return [
    {
      name: "native line: the largest step, bisected",
      figure: step === undefined ? null : step.artifact,
      unit: step === undefined ? "" : `${(step.change * 100).toFixed(2)} %`,
      goal: "one nightly is named",
      holds: found.state === "found" && step !== undefined && step.exact,
      how: found.sentence,
    },
    atMost(
      "native line: measured in all, of a full scan",
      (100 * measured) / found.artifacts,
      25,
      "%",
      `${measured} of ${found.artifacts} nightlies`,
    ),
  ];
}
