import { exactly, type Measurement } from "../row.ts";
import { runTests } from "../run-tests.ts";
import { startRealLab } from "./real-lab.ts";

const parent = "nightly-20260216";
const child = "nightly-20260217";
const how = `${parent} measured with js alone; then ${child} asked for as a try with native; published compilers, rxjs, check, full`;

export const backfill: Measurement = {
  title: "a try whose parent lacks its backend",
  long: true,
  async measure() {
    const lab = await startRealLab([["rxjs"]]);
    try {
      const suite = "typescript";
      const first = await lab.request({
        suite,
        artifact: parent,
        backends: ["js"],
        parents: "alone",
      });
      const before = await lab.untilEnded(first.request.id);
      const asked = await lab.request({
        suite,
        artifact: child,
        kind: "try",
        backends: ["native"],
        parent,
      });
      const ended = await lab.untilEnded(asked.request.id);
      const after = await lab.detail(first.request.id);
      const page = await lab.compare({
        suite,
        before: parent,
        after: child,
        metric: "instructions",
      });
      const again = await lab.request({
        suite,
        artifact: child,
        kind: "try",
        backends: ["native"],
        parent,
      });
      const noOp = await lab.untilEnded(again.request.id);
      const measured = noOp.jobList.filter(
        // For a job that existed before, the earlier collector is shown.
        ({ startedAt, collector }) => collector !== null && (startedAt ?? "") >= noOp.createdAt,
      );
      const tests = await runTests("src/perf/requests/change-request.test.ts");
      return [
        exactly(
          "backfill: jobs made for the parent",
          ended.jobList.filter(({ purpose }) => purpose === "backfill").length,
          1,
          "job",
          how,
        ),
        exactly(
          "backfill: backends that the parent's new jobs measured",
          [
            ...new Set(
              ended.jobList.filter((job) => job.purpose === "backfill").map((job) => job.backend),
            ),
          ].join(", "),
          "native",
          "",
          how,
        ),
        exactly(
          "backfill: the parent's request is untouched",
          JSON.stringify([after.state, after.endedAt, after.jobs]),
          JSON.stringify([before.state, before.endedAt, before.jobs]),
          "",
          how,
        ),
        exactly(
          "backfill: cases compared with the parent",
          page.cases.filter((each) => each.case.backend === "native").length,
          1,
          "case",
          how,
        ),
        exactly(
          "backfill: asked again, what is measured",
          measured.length,
          0,
          "jobs",
          "the same request a second time: all of it has results",
        ),
        exactly(
          "backfill: after 30 days jobs are gone, and asked again nothing is measured",
          tests.filter(({ passed }) => passed).length,
          tests.length,
          `of ${tests.length} tests`,
          `the clock is the test's; ${tests.map(({ title, why }) => (why === "" ? title : `${title}: ${why}`)).join("; ")}`,
        ),
      ];
    } finally {
      await lab.stop();
    }
  },
};
