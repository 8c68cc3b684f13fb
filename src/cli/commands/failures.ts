import type { FailureOfJob, GraphFailures } from "#api/failure-of-job.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine, printableLog } from "../terminal/printable-text.ts";

export const describeFailures: Describe = (command) => {
  speaksToServer(command)
    .argument("<graph>", "the id of a graph, a unique prefix of it, or `latest`")
    .action((graph: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { graphEndpoints } = await import("#api/endpoints/graph-endpoints.ts");
        const found = await session.api.call(graphEndpoints.graphFailures, { params: { graph } });
        return answer(session, options, found, () => failureLines(found));
      }),
    );
  withExamples(command, [
    ["show what failed in the newest graph", "failures latest"],
    ["the same as JSON, for a script", "failures 3f2a --json"],
  ]);
};

function failureLines({ graph, failures, more, skipped }: GraphFailures): string[] {
  if (failures.length === 0) return ["No job failed."];
  return [
    ...failures.flatMap((failure) => [...linesOf(failure, graph), ""]),
    ...(more === 0 ? [] : [`${more} more failed.`]),
    ...(skipped === 0 ? [] : [`${skipped} skipped because of a failure.`]),
  ];
}

function linesOf(failure: FailureOfJob, graph: string): string[] {
  const { job, run, exitCode, outcome, because, flaky, message, log, executionId } = failure;
  const facts = [
    outcome?.replaceAll("_", " ") ?? "failed",
    ...(exitCode === null || exitCode === 0 ? [] : [`exit code ${exitCode}`]),
    ...(because === null ? [] : [`after ${printableLine(because)} failed`]),
    ...(flaky ? ["flaky: the same action has also succeeded"] : []),
  ];
  return [
    `${printableLine(job)}, run ${run}: ${facts.join(", ")}`,
    ...(message === null ? [] : [`  ${printableLine(message)}`]),
    ...sinceLines(failure),
    ...(log?.lines ?? []).map(
      ({ text, isError }) => `${isError ? ">" : " "} ${printableLog(text)}`,
    ),
    `  Log: grange logs ${graph} ${printableLine(job)}`,
    ...(executionId === null ? [] : [`  Run it here: grange reproduce ${executionId}`]),
  ];
}

function sinceLines({ lastPassed, firstFailed, graphsBetween }: FailureOfJob): string[] {
  const named = ({ commit, subject }: FailureOfJob["firstFailed"]) =>
    `${commit.slice(0, 8)} ${printableLine(subject)}`;
  return [
    `  last passed: ${lastPassed === null ? "in no earlier graph of the branch" : named(lastPassed)}`,
    `  first failed: ${named(firstFailed)}`,
    ...(graphsBetween === 0 ? [] : [`  It did not run in the ${graphsBetween} graphs between.`]),
  ];
}
