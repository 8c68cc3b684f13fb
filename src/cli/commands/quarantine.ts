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
    .argument("[tool]", "the tool of the result, as in the list: ccache, reapi")
    .argument("[key]", "the key of the result")
    .option("--project <name>", "the project of the result", projectName, "default")
    .option("--made-from", "also quarantine results that builds made after they had received it")
    .option(
      "--release",
      "delete it, and results that were quarantined because of it; the next build makes them again",
    )
    .action((tool: string | undefined, key: string | undefined, options: QuarantineOptions) =>
      inSession(options, async (session) => {
        const { granaryEndpoints } = await import("#api/endpoints/granary-endpoints.ts");
        const { project, madeFrom = false, release = false } = options;
        if (madeFrom && release) throw new UsageError("give only one of --made-from and --release");
        if ((madeFrom || release) && key === undefined) {
          throw new UsageError("name a result by tool and key; `grange quarantine` lists them");
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
    ["list results in quarantine, their writers, and the builds that received them", "quarantine"],
    ["also quarantine results that were made from one", "quarantine ccache 78/ca225a8 --made-from"],
    [
      "release a result that contained a time, so that it is made again",
      "quarantine ccache 78/ca225a8 --release",
    ],
  ]);
};
