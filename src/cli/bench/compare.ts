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
      "compare two artifacts that `bench run` has measured: a summary, then the cases by change",
    )
    .argument("<before>", "the tag of a measured artifact, or a file of results")
    .argument("<after>", "likewise")
    .option("--suite <file|name>", "default: the only one in .grange/bench/")
    .option("--metric <name>", "only this metric (default: all metrics that count for the verdict)")
    .option("--all", "also show cases without a relevant change, and metrics that do not count")
    .option(
      "--across <backend:backend>",
      "compare a backend of the first artifact with another backend of the second",
    )
    .option("--measure", "run both in turn until there is a verdict for times and memory")
    .option("--data <dir>", "the directory of artifacts and results (GRANGE_BENCH_DATA)")
    .option(
      "--server [url]",
      "compare measurements of a farm, using its history (default: GRANGE_SERVER)",
    )
    .option("--token-file <file>", "with --server: a file that contains your token (GRANGE_TOKEN)")
    .option(
      "--no-sandbox",
      "with --measure: run without a sandbox, as your user and with the network",
    )
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
    ["compare two measured versions", "bench compare 7.0.2 nightly-20261021"],
    [
      "also decide about times: takes some minutes for each case",
      "bench compare 5.9.3 6.0.3 --measure",
    ],
    ["compare measurements of a farm", "bench compare 6.0.2 6.0.3 --suite typescript --server"],
    [
      "compare a compiler in JavaScript with a native one",
      "bench compare 5.9.3 7.0.2 --across js:native",
    ],
  ]);
}
