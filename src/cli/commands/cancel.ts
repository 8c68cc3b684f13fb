import type { UnconfirmedRun } from "#api/cancel.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";

/** Returns the line for a process that may still start. */
export function unconfirmedLine(what: string, worker: string): string {
  return `Not confirmed: ${worker} has not confirmed that ${what} is cancelled. It may still start there until ${worker} receives the cancellation.`;
}

const unconfirmedLines = (unconfirmed: readonly UnconfirmedRun[]) =>
  unconfirmed.map(({ job, worker }) => unconfirmedLine(`job ${job}`, worker));

export const describeCancel: Describe = (command) => {
  speaksToServer(command)
    .argument("<graph>", "the id of a graph, a unique prefix of it, or `latest`")
    .argument("[job]", "cancel only this job")
    .action((graph: string, job: string | undefined, options: CommonOptions) =>
      inSession(options, async (session) => {
        if (job === undefined) {
          const { graphEndpoints } = await import("#api/endpoints/graph-endpoints.ts");
          const cancelled = await session.api.call(graphEndpoints.cancelGraph, {
            params: { graph },
          });
          return answer(session, options, cancelled, () => [
            `Graph ${cancelled.id.slice(0, 8)} is ${cancelled.state}.`,
            ...unconfirmedLines(cancelled.unconfirmed),
          ]);
        }
        const { jobEndpoints } = await import("#api/endpoints/job-endpoints.ts");
        const cancelled = await session.api.call(jobEndpoints.cancelJob, {
          params: { graph, job },
        });
        return answer(session, options, cancelled, () => [
          `${cancelled.name} is ${cancelled.state}.`,
          ...unconfirmedLines(cancelled.unconfirmed),
        ]);
      }),
    );
  withExamples(command, [
    ["all unfinished jobs of the newest graph", "cancel latest"],
    ["one job; jobs that need it are skipped", "cancel 3f2a tests"],
  ]);
};
