import type { JobSummary } from "#api/graph.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";

export const describeWhy: Describe = (command) => {
  speaksToServer(command)
    .argument("<graph>", "the id of a graph, a unique prefix of it, or `latest`")
    .argument("<job>", "the job's name")
    .action((graph: string, job: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { jobEndpoints } = await import("#api/endpoints/job-endpoints.ts");
        const { waiting } = await session.api.call(jobEndpoints.jobWaiting, {
          params: { graph, job },
        });
        const lines =
          waiting === null
            ? notWaiting((await session.api.job(graph, job)).job, graph)
            : [
                `${job} ${printableLine(waiting.sentence)}`,
                ...(waiting.advice === null ? [] : [`To do: ${printableLine(waiting.advice)}`]),
              ];
        return answer(session, options, { waiting }, () => lines);
      }),
    );
  withExamples(command, [
    ["explain why the job tests of the newest graph does not run", "why latest tests"],
    ["the reason and its numbers, for a script", "why 3f2a tests --json"],
  ]);
};

/** Returns, for a job that does not wait, its outcome and the possible actions. */
function notWaiting({ name, state, reason }: JobSummary, graph: string): string[] {
  const suffix = reason === null ? "" : `: ${printableLine(reason)}`;
  const see = `See: grange runs ${graph} ${name}`;
  switch (state) {
    case "unreachable":
      return [
        `${name} does not run${suffix}`,
        "To do: retrigger the job that blocks it, or waive it with `grange waive`.",
      ];
    case "inactive":
    case "coalesced":
    case "expired":
      return [`${name} does not run${suffix}`, `To do: grange activate ${name} --graph ${graph}`];
    case "succeeded":
    case "failed":
      return [`${name} has ${state}${suffix}. ${see}`];
    case "cancelled":
      return [`${name} was cancelled${suffix}. ${see}`];
    case "running":
      return [`${name} runs. ${see}`];
    case "blocked":
    case "waiting":
    case "ready":
    case "queued":
      return [`${name} is about to continue. ${see}`];
  }
}
