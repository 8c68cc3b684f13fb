import { type Command, InvalidArgumentError, Option } from "commander";
import { parseMemorySize } from "#core/memory-size.ts";
import type { Describe } from "../command-list.ts";
import { answersJson, logLevel, projectName, withExamples } from "../common-options.ts";
import type * as Asking from "../granary/ask-granary.ts";
import type { GranaryOptions } from "../granary/run-granary.ts";
import { numberFrom } from "../whole-number.ts";

interface OfGranary {
  readonly data?: string;
  readonly json?: boolean;
}
interface AheadOptions extends OfGranary {
  readonly dryRun?: boolean;
  readonly commit?: string;
  readonly project?: string;
}

/** `grange granary`, and the commands to a running one. */
export const describeGranary: Describe = (command, program) => {
  // So that `granary status --data` means the option of `status`: each command with subcommands must enable this.
  command.parent?.enablePositionalOptions();
  command.enablePositionalOptions();
  withData(command)
    .option("--server <url>", "the farm to fetch from (GRANGE_SERVER; default: none)")
    .option("--token-file <file>", "a file that contains your token (GRANGE_TOKEN)")
    .option(
      "--enrol <token-or-file>",
      "an enrolment token, which is exchanged once for a token of its own in its data directory (GRANGE_ENROL)",
    )
    .option("--no-farm", "use no farm, and ignore GRANGE_SERVER")
    .option(
      "--limit <size>",
      "the maximum size of the store (GRANGE_GRANARY_LIMIT; default 10G)",
      size,
    )
    .option(
      "--port <n>",
      "the port for build tools; 0 selects a free port",
      numberFrom(0, 65_535),
      0,
    )
    .addOption(
      new Option("--upload <when>", "when to send results to the farm")
        .choices(["during", "soon", "after"])
        .default("soon"),
    )
    .option("--bandwidth <size>", "bytes per second for prefetching and for uploads, each", size)
    .option(
      "--cross-check <share>",
      "the share of hits to execute again and compare, such as 0.02",
      share,
      0,
    )
    .option("--trust-disk", "serve blobs without checking their digests")
    .option("--dune", "replace the cache daemon of dune 2, also for builds without `grange exec`")
    .addOption(logLevel())
    .addOption(command.createOption("--end-with-parent").hideHelp())
    // Otherwise an unknown command is reported as an unexpected argument.
    .allowExcessArguments()
    .action(async (options: GranaryOptions) => {
      const [unknown] = command.args;
      if (unknown !== undefined) {
        const known = command.commands.map((part) => part.name()).join(", ");
        command.error(
          `error: there is no command \`grange granary ${unknown}\`; the commands are ${known}`,
        );
      }
      const { runGranary } = await import("../granary/run-granary.ts");
      await runGranary(options, program.version);
    });
  ofRunning(
    command,
    "status",
    "show the contents and state of the granary, and what it has to send",
  ).action((options: OfGranary, self: Command) =>
    asked(options, async (ask) => ask.status(placed(options, self))),
  );
  ofRunning(command, "builds", "list the last builds of this machine").action(
    (options: OfGranary, self: Command) =>
      asked(options, async (ask) => ask.builds(placed(options, self))),
  );
  ofRunning(
    command,
    "why",
    "show the source of each result of a build, and why results were late or missing",
  )
    .argument("[build]", "the id of the build, or a prefix of it (default: the last build)")
    .action((build: string | undefined, options: OfGranary, self: Command) =>
      asked(options, async (ask) => ask.why(placed(options, self), build)),
    );
  ofRunning(command, "trim", "remove the least recently used results, down to the limit").action(
    (options: OfGranary, self: Command) =>
      asked(options, async (ask) => ask.trim(placed(options, self))),
  );
  ofRunning(command, "stop", "stop the granary, after it has saved its state").action(
    (options: OfGranary, self: Command) =>
      asked(options, async (ask) => ask.stop(placed(options, self))),
  );
  ofRunning(command, "prefetch", "prefetch the results that a build of this checkout needs")
    .option("--dry-run", "only print what would be fetched")
    .option("--commit <rev>", "the commit (default: the current one)")
    .option("--project <name>", "whose results", projectName)
    .action((options: AheadOptions, self: Command) =>
      asked(options, async (ask) => ask.prefetch(placed(options, self))),
    );
  const hooks = command
    .command("hooks")
    .description("install Git hooks that start prefetching after a checkout");
  hooks
    .command("install")
    .description(
      "add a line to the hooks post-checkout, post-merge and post-rewrite of this checkout",
    )
    .action((options: OfGranary) => asked(options, async (ask) => ask.hooks()));
  withExamples(command, [
    ["run a granary without a farm, in the foreground", "granary"],
    ["run a granary that uses a farm", "granary --server http://farm:8980 --token-file token"],
    ["show its state", "granary status"],
    ["show why the last build waited, or made results again", "granary why"],
    [
      "show what a build of another commit would need",
      "granary prefetch --dry-run --commit v1.2.0",
    ],
  ]);
};

type Asks = typeof Asking;

async function asked(options: OfGranary, work: (ask: Asks) => Promise<void>): Promise<void> {
  const { inSession } = await import("../session.ts");
  await inSession(options, async () => {
    await work(await import("../granary/ask-granary.ts"));
    return 0;
  });
}

function ofRunning(command: Command, name: string, summary: string): Command {
  return answersJson(withData(command.command(name).description(summary)));
}

/** `granary --data DIR status` means what `granary status --data DIR` does. */
function placed<Options extends OfGranary>(options: Options, self: Command): Options {
  const { data } = self.parent?.opts<OfGranary>() ?? {};
  return options.data === undefined && data !== undefined ? { ...options, data } : options;
}

function withData(command: Command): Command {
  return command.option("--data <dir>", "the data directory of the granary (GRANGE_GRANARY_DATA)");
}

function size(text: string): number {
  const bytes = parseMemorySize(text);
  if (bytes !== undefined && bytes > 0) return bytes;
  throw new InvalidArgumentError("It must be a size such as 500M or 10G.");
}

function share(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError("It must be a share from 0 to 1, such as 0.02.");
}
