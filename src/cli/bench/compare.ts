import type { Command } from "commander";
import { answersJson, withExamples } from "../common-options.ts";
import { type CommonOptions, inSession } from "../session.ts";

export interface CompareOptions extends CommonOptions {
  readonly suite?: string;
  readonly metric?: string;
  readonly all?: boolean;
  readonly across?: string;
  readonly measure?: boolean;
  readonly data?: string;
  /** False with --no-sandbox. */
  readonly sandbox: boolean;
}

/** With --server; `true`: the default address. */
type Where = Omit<CompareOptions, "server"> & { readonly server?: string | true };

/** `grange bench compare`. */
export function describeCompare(command: Command): void {
  const compare = answersJson(command.command("compare"))
    .description(
      "compare what `bench run` measured of two artifacts: a summary, then cases by change",
    )
    .argument("<before>", "a tag that was measured here, or a file of results")
    .argument("<after>", "likewise")
    .option("--suite <file|name>", "default: the only one in .grange/bench/")
    .option("--metric <name>", "cases of this metric (default: of all that decide)")
    .option("--all", "also cases without a relevant change, and metrics that decide nothing")
    .option(
      "--across <backend:backend>",
      "compare one backend of the first with another of the second",
    )
    .option("--measure", "run both by turns, until it is clear whether times and memory changed")
    .option("--data <dir>", "where artifacts and results are kept (GRANGE_BENCH_DATA)")
    .option(
      "--server [url]",
      "compare what a farm measured, by its history (default: GRANGE_SERVER)",
    )
    .option("--token-file <file>", "with --server: a file that holds a token (GRANGE_TOKEN)")
    .option("--no-sandbox", "with --measure: run as your user, with the network")
    .action((before: string, after: string, { server, ...rest }: Where) => {
      const options = typeof server === "string" ? { ...rest, server } : rest;
      return inSession(options, async (session) => {
        if (server !== undefined) {
          const { compareOnFarm } = await import("./compare-on-farm.ts");
          return compareOnFarm(session, before, after, options);
        }
        const { compareLocally } = await import("./compare-locally.ts");
        return compareLocally(session, before, after, options);
      });
    });
  withExamples(compare, [
    ["two versions that were measured", "bench compare 7.0.2 nightly-20261021"],
    [
      "whether times changed, too: some minutes for each case",
      "bench compare 5.9.3 6.0.3 --measure",
    ],
    ["what a farm measured of two", "bench compare 6.0.2 6.0.3 --suite typescript --server"],
    ["a compiler in JavaScript with a native one", "bench compare 5.9.3 7.0.2 --across js:native"],
  ]);
}
