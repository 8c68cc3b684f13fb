import { quantile } from "../quantile.ts";
import { atMost, exactly, forInformation, type Measurement } from "../row.ts";
import type { Lab } from "./lab.ts";
import { startRealLab } from "./real-lab.ts";

/** Ten consecutive days on which both compilers were published. */
const nightlies = Array.from(
  { length: 10 },
  (_, day) => `nightly-202602${String(8 + day).padStart(2, "0")}`,
);
const releases = ["5.7.3", "5.8.3", "5.9.3", "6.0.3", "7.0.2"];
const how =
  "two benchmarks in two sets, profile check, scenario full; one run by the clock, native ones one more under cachegrind; published compilers, two collectors of this machine that take turns";

export const nightliesAndReleases: Measurement = {
  title: "ten nightlies and five releases",
  long: true,
  async measure() {
    const lab = await startRealLab([["rxjs"], ["ajv"]]);
    try {
      const startedAt = Date.now();
      const ids: string[] = [];
      for (const [i, artifact] of [...nightlies, ...releases].entries()) {
        const isFirst = i === 0 || releases.includes(artifact);
        const { request } = await lab.request({
          suite: "typescript",
          artifact,
          parents: isFirst ? "alone" : "missing",
        });
        ids.push(request.id);
      }
      const ended = [];
      for (const id of ids) ended.push(await lab.untilEnded(id));
      const minutes = (Date.now() - startedAt) / 60_000;
      const machines = new Set(ended.flatMap(({ jobList }) => jobList.map((job) => job.collector)));
      const pages = await comparePages(lab);
      return [
        exactly(
          "nightlies and releases: requests that completed",
          ended.filter(({ state }) => state === "completed").length,
          ids.length,
          `of ${ids.length}`,
          how,
        ),
        exactly(
          "nightlies and releases: errors of benchmarks",
          ended.reduce((sum, { errors }) => sum + errors, 0),
          0,
          "",
          how,
        ),
        exactly("nightlies and releases: collectors that measured", machines.size, 2, "", how),
        exactly(
          "nightlies and releases: compare pages with figures of both compilers",
          pages.filter(({ backends }) => backends === 2).length,
          nightlies.length - 1,
          `of ${nightlies.length - 1}`,
          "each nightly against the day before: GET /benchmarks/compare",
        ),
        atMost(
          "nightlies and releases: a compare page's data, median",
          quantile(
            pages.map(({ ms }) => ms),
            0.5,
          ),
          100,
          "ms",
          "asked over HTTP",
        ),
        forInformation("nightlies and releases: from first to last", minutes, "min", how),
      ];
    } finally {
      await lab.stop();
    }
  },
};

async function comparePages(lab: Lab) {
  const pages = [];
  for (const [i, after] of nightlies.entries()) {
    const before = nightlies[i - 1];
    if (before === undefined) continue;
    const startedAt = performance.now();
    const page = await lab.compare({ suite: "typescript", before, after, metric: "types" });
    pages.push({
      backends: new Set(page.cases.map((each) => each.case.backend)).size,
      ms: performance.now() - startedAt,
    });
  }
  return pages;
}
