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
    .argument("<graph>", "a graph's id, a unique beginning of it, or `latest`")
    .argument("<job>", "the job's name")
    .option(
      "--set <path=value>",
      "a part of its definition, beside what was changed before; may be repeated",
      repeated,
    )
    .option("--patch <file>", "the same as a JSON merge patch, in JSON or YAML")
    .option("--remove", "as its definition says again")
    .option("--retrigger", "and run it anew, when it has run")
    .option("--reason <text>", "why, for those who ask later")
    .option("--dry-run", "only say what would be changed")
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
            ? [`${job} is as its definition says.`]
            : definitionChangeLines(done.changes, paint)),
          ...(done.rerun === null ? [] : plannedChangeLines(done.rerun, paint)),
        ]);
      }),
    );
  withExamples(command, [
    [
      "more time and another variable",
      "customise latest tests --set timeout=2h --set environment.V=1",
    ],
    [
      "what has run already, with a patch from a file",
      "customise 3f2a tests --patch p.yml --retrigger",
    ],
    ["as its definition says again", "customise latest tests --remove"],
  ]);
};
