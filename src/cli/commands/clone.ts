import { Option } from "commander";
import type { ClonedGraph, CloneMode } from "#api/rerun.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import type { Paint } from "../terminal/paint.ts";
import { printableLine } from "../terminal/printable-text.ts";

interface CloneOptions extends CommonOptions {
  readonly uncustomised?: boolean;
  readonly today?: boolean;
  readonly select?: string;
  readonly ownSet?: boolean;
  readonly reason?: string;
  readonly dryRun?: boolean;
}

export const describeClone: Describe = (command) => {
  speaksToServer(command)
    .argument("<graph>", "the id of a graph, a unique prefix of it, or `latest`")
    .option("--uncustomised", "without manual changes")
    .addOption(new Option("--today", "with the current definitions").conflicts("uncustomised"))
    .option("--select <selection>", "only these jobs and what they need")
    .option("--own-set", "put the copy into a new set")
    .option("--reason <text>", "the reason, which others can read later")
    .option("--dry-run", "only print the new graph, and how its forms differ")
    .action((graph: string, options: CloneOptions) =>
      inSession(options, async (session) => {
        const { rerunEndpoints } = await import("#api/endpoints/rerun-endpoints.ts");
        const { definitionChangeLines } = await import("../definition-change-lines.ts");
        const { select, reason, ownSet = false, dryRun = false } = options;
        const cloned = await session.api.call(rerunEndpoints.clone, {
          params: { graph },
          body: {
            mode: modeOf(options),
            ownSet,
            dryRun,
            ...(select === undefined ? {} : { selection: select }),
            ...(reason === undefined ? {} : { reason }),
          },
        });
        const { paint } = session.terminal.answer;
        const differences = differenceLines(cloned, paint, (changes) =>
          definitionChangeLines(changes, paint),
        );
        return answer(session, options, cloned, () =>
          cloned.graph === null
            ? [`It would have ${cloned.jobs.length} jobs.`, ...differences]
            : [
                `Graph ${cloned.graph.id.slice(0, 8)} with ${cloned.graph.jobs} ${cloned.graph.jobs === 1 ? "job" : "jobs"}.`,
              ],
        );
      }),
    );
  withExamples(command, [
    ["copy the newest graph", "clone latest"],
    ["show how a graph differs from the current definitions", "clone 3f2a --dry-run"],
    [
      "copy only the tests and what they need, without manual changes",
      "clone 3f2a --select tests --uncustomised",
    ],
  ]);
};

function modeOf({ today, uncustomised }: CloneOptions): CloneMode {
  if (today === true) return "today";
  return uncustomised === true ? "uncustomised" : "as-it-ran";
}

function differenceLines(
  { differences, todayProblem }: ClonedGraph,
  paint: Paint,
  linesOf: (changes: ClonedGraph["differences"][number]["customisations"]) => string[],
): string[] {
  const lines = differences.flatMap(({ job, customisations, changesSince, ...forms }) => [
    paint.bold(printableLine(job)),
    ...(customisations.length === 0 ? [] : ["  manual changes:"]),
    ...linesOf(customisations).map((line) => `    ${line}`),
    ...(changesSince.length === 0 ? [] : ["  changed in the definitions since:"]),
    ...linesOf(changesSince).map((line) => `    ${line}`),
    ...(forms.asItRan === null ? ["  new in the definitions"] : []),
    ...(forms.today === null && todayProblem === null ? ["  no longer in the definitions"] : []),
  ]);
  const problem =
    todayProblem === null ? [] : [`Not compared with today: ${printableLine(todayProblem)}`];
  return [...lines, ...problem];
}
