import type { Describe } from "../command-list.ts";
import { repeated, speaksToServer, withExamples } from "../common-options.ts";
import type { PatchOptions } from "../patch-of-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";

interface CustomiseOptions extends CommonOptions, PatchOptions {
  readonly retrigger?: boolean;
  readonly reason?: string;
  readonly dryRun?: boolean;
}

export const describeCustomise: Describe = (command) => {
  speaksToServer(command)
    .argument("<graph>", "the id of a graph, a unique prefix of it, or `latest`")
    .argument("<job>", "the job's name")
    .option(
      "--set <path=value>",
      "change a part of its definition, in addition to earlier changes; may be repeated",
      repeated,
    )
    .option("--patch <file>", "a JSON merge patch of the definition, in JSON or YAML")
    .option("--remove", "remove all changes")
    .option("--retrigger", "run the job again if it has run")
    .option("--reason <text>", "the reason, which others can read later")
    .option("--dry-run", "only print what would change")
    .action((graph: string, job: string, options: CustomiseOptions) =>
      inSession(options, async (session) => {
        const { rerunEndpoints } = await import("#api/endpoints/rerun-endpoints.ts");
        const { definitionChangeLines } = await import("../definition-change-lines.ts");
        const { plannedChangeLines } = await import("../planned-change-lines.ts");
        const { patchOfOptions } = await import("../patch-of-options.ts");
        const { retrigger = false, dryRun = false, reason } = options;
        const { origin } = await session.api.job(graph, job);
        const patch = await patchOfOptions(options, origin.patch);
        const done = await session.api.call(rerunEndpoints.customise, {
          params: { graph },
          body: {
            job,
            patch,
            after: origin.revision,
            retrigger,
            dryRun,
            ...(reason === undefined ? {} : { reason }),
          },
        });
        const { paint } = session.terminal.answer;
        return answer(session, options, done, () => [
          ...(done.patch === null
            ? [`${job} has its original definition again.`]
            : definitionChangeLines(done.changes, paint)),
          ...(done.rerun === null ? [] : plannedChangeLines(done.rerun, paint)),
        ]);
      }),
    );
  withExamples(command, [
    [
      "a longer timeout and another variable",
      "customise latest tests --set timeout=2h --set environment.V=1",
    ],
    [
      "change a job that has run, with a patch from a file, and run it again",
      "customise 3f2a tests --patch p.yml --retrigger",
    ],
    ["remove all changes", "customise latest tests --remove"],
  ]);
};
