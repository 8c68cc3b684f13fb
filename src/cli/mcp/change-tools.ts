import { z } from "zod";
import { type PlannedJob, RerunMode } from "#api/rerun.ts";
import { durationText } from "#core/duration-text.ts";
import { Fault } from "#core/fault.ts";
import { graphArgument } from "./graph-tools.ts";
import { type Tool, tool } from "./tool.ts";

/** Jobs of an answer. */
const mostJobs = 200;

/**
 * Changes of graphs.
 *
 * The first call only returns the effect, with a token; the call with that token makes exactly this change. So an
 * assistant, and the person who watches it, see which jobs run before they run.
 */
export const changeTools: readonly Tool[] = [
  tool({
    name: "retrigger",
    title: "Run jobs again",
    description:
      "Runs jobs of a graph again. Needs the right `retrigger`. Call it first without `token`: it returns which jobs would run, how long that takes, and a token. Then call it again with the same arguments and that token: exactly these jobs run.",
    changes: true,
    input: z.object({
      graph: graphArgument,
      selection: z
        .string()
        .max(10_000)
        .optional()
        .describe("Which jobs: a name, `state:failed`, or tags such as `platform:win32 & pgo`"),
      jobs: z.array(z.string().max(1_024)).max(200).optional().describe("Which jobs, by name"),
      mode: RerunMode.default("revive").describe(
        "`revive`: jobs that were skipped because of them run, too; `alone`: only these; `downstream`: all that depends on them runs again",
      ),
      times: z.number().int().min(1).max(100).default(1),
      reason: z.string().min(1).max(2_000).optional().describe("For people who ask later"),
      token: z.string().max(100_000).optional().describe("From the call without a token"),
    }),
    async run(api, { graph, token, selection, jobs, ...rest }) {
      if (selection === undefined && jobs === undefined) {
        throw new Fault("invalid_argument", "say which jobs: `selection` or `jobs`");
      }
      const { rerunEndpoints } = await import("#api/endpoints/rerun-endpoints.ts");
      const change = await api.call(rerunEndpoints.retrigger, {
        params: { graph },
        body: {
          ...rest,
          ...(selection === undefined ? {} : { selection }),
          ...(jobs === undefined ? {} : { jobs }),
          ...(token === undefined ? {} : { token }),
          dryRun: token === undefined,
        },
      });
      const shown = change.jobs.slice(0, mostJobs);
      const { expected } = change;
      return {
        lines: [
          change.applied
            ? "Done. These jobs run again:"
            : "Nothing has run yet. This would happen; call again with the token to do it:",
          ...shown.map(plannedLine),
          ...(change.jobs.length > shown.length
            ? [`… and ${change.jobs.length - shown.length} more jobs`]
            : []),
          `${expected.runs} runs, about ${durationText(expected.endToEndMs)} from the first to the last, ${durationText(expected.workerMs)} of workers`,
          ...(change.applied ? [] : [`token: ${change.token}`]),
        ],
        data: {
          applied: change.applied,
          token: change.applied ? null : change.token,
          jobs: shown.map(({ job, state, does, why }) => ({ job, state, does, why })),
          moreJobs: change.jobs.length - shown.length,
          expected: { ...expected, criticalPath: expected.criticalPath.slice(0, 50) },
        },
      };
    },
  }),
];

function plannedLine({ job, state, does, why, times }: PlannedJob): string {
  return `${job} (${state}): ${does}${times > 1 ? `, ${times} times` : ""}${why === null ? "" : `, ${why}`}`;
}
