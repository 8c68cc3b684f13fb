import type { Run } from "#api/graph.ts";
import { durationText } from "#core/duration-text.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";

export const describeRuns: Describe = (command) => {
  speaksToServer(command)
    .argument("<graph>", "the id of a graph, a unique prefix of it, or `latest`")
    .argument("<job>", "the job's name")
    .action((graph: string, job: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { runList } = await session.api.job(graph, job);
        return answer(session, options, runList, () =>
          runList.length === 0
            ? [`${job} has no run yet.`]
            : tableLines([
                ["run", "state", "cause", "worker", "time", "memory", ""],
                ...runList.map(runRow),
              ]).concat(
                runList.some(({ executionId }) => executionId !== null)
                  ? `To explain the size class: grange size-class explain ${printableLine(graph)} ${printableLine(job)}`
                  : [],
              ),
        );
      }),
    );
  withExamples(command, [
    ["list all runs of the job tests in the newest graph", "runs latest tests"],
    ["digests, times and outputs of each run, for a script", "runs 3f2a tests --json"],
  ]);
};

function runRow(run: Run): string[] {
  const ms =
    run.startedAt === null || run.finishedAt === null
      ? undefined
      : Date.parse(run.finishedAt) - Date.parse(run.startedAt);
  return [
    String(run.number),
    run.cachedFrom === null ? (run.outcome ?? run.state) : "hit",
    run.cause,
    run.worker ?? "",
    ms === undefined ? "" : durationText(ms),
    run.peakMemoryBytes === null ? "" : `${Math.ceil(run.peakMemoryBytes / 2 ** 20)} MiB`,
    [
      ...(run.failureClass === null ? [] : [run.failureClass]),
      ...(run.exitCode === null || run.exitCode === 0 ? [] : [`exit code ${run.exitCode}`]),
      ...(run.attempt > 1 ? [`attempt ${run.attempt}`] : []),
      ...(run.message === null ? [] : [printableLine(run.message)]),
      ...(run.why === null ? [] : [printableLine(run.why)]),
    ].join(", "),
  ];
}
