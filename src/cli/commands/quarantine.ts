import type { Describe } from "../command-list.ts";
import { projectName, speaksToServer, withExamples } from "../common-options.ts";
import { quarantineLines } from "../quarantine-lines.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { UsageError } from "../usage-error.ts";

interface QuarantineOptions extends CommonOptions {
  readonly project: string;
  readonly madeFrom?: boolean;
  readonly release?: boolean;
}

/** `grange quarantine`: results that differed when they were made again. */
export const describeQuarantine: Describe = (command) => {
  speaksToServer(command)
    .argument("[tool]", "whose result, as the list says: ccache, reapi")
    .argument("[key]", "its key")
    .option("--project <name>", "of which project", projectName, "default")
    .option("--made-from", "put what builds made after they were given it there, too")
    .option(
      "--release",
      "let it out, and what is there because of it: made anew when it is asked for",
    )
    .action((tool: string | undefined, key: string | undefined, options: QuarantineOptions) =>
      inSession(options, async (session) => {
        const { granaryEndpoints } = await import("#api/endpoints/granary-endpoints.ts");
        const { project, madeFrom = false, release = false } = options;
        if (madeFrom && release) throw new UsageError("either --made-from or --release");
        if ((madeFrom || release) && key === undefined) {
          throw new UsageError("which result? `grange quarantine` names them by tool and key");
        }
        const isMeant = { project, namespace: tool ?? "", key: key ?? "" };
        const found = madeFrom
          ? await session.api.call(granaryEndpoints.quarantineMadeFrom, { body: isMeant })
          : release
            ? await session.api.call(granaryEndpoints.releaseGranaryResult, { body: isMeant })
            : await session.api.call(granaryEndpoints.granaryQuarantine, { query: { project } });
        const results = found.results.filter(
          ({ divergence }) =>
            (tool === undefined || divergence.namespace === tool) &&
            (key === undefined || divergence.key === key),
        );
        return answer(session, options, { results }, () =>
          quarantineLines({ results }, new Date()),
        );
      }),
    );
  withExamples(command, [
    ["what is in quarantine, who wrote it, and who was given it", "quarantine"],
    ["what was made from one goes there, too", "quarantine ccache 78/ca225a8 --made-from"],
    ["one that differed by a clock is made anew", "quarantine ccache 78/ca225a8 --release"],
  ]);
};
