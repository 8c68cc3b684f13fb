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
    .option("--server <url>", "the farm behind it (GRANGE_SERVER; default: none)")
    .option("--token-file <file>", "who asks: a file that holds a token (GRANGE_TOKEN)")
    .option(
      "--enrol <token-or-file>",
      "an enrolment token: hand it in once, for a token of its own that lies in its directory (GRANGE_ENROL)",
    )
    .option("--no-farm", "a cache of this machine alone, whatever GRANGE_SERVER says")
    .option(
      "--limit <size>",
      "what the store may come to (GRANGE_GRANARY_LIMIT; default 10G)",
      size,
    )
    .option("--port <n>", "the port that tools speak to; 0 takes any", numberFrom(0, 65_535), 0)
    .addOption(
      new Option("--upload <when>", "when results leave for the farm")
        .choices(["during", "soon", "after"])
        .default("soon"),
    )
    .option("--bandwidth <size>", "a second, for fetching ahead and for uploads, each", size)
    .option("--cross-check <share>", "of hits, make so many again and compare: 0.02", share, 0)
    .option("--trust-disk", "give blobs without reading them first")
    .option("--dune", "stand in for the daemon of dune 2, also where `grange exec` is not used")
    .addOption(logLevel())
    .addOption(command.createOption("--end-with-parent").hideHelp())
    // Otherwise an unknown command is reported as an unexpected argument.
    .allowExcessArguments()
    .action(async (options: GranaryOptions) => {
      const [unknown] = command.args;
      if (unknown !== undefined) {
        const known = command.commands.map((part) => part.name()).join(", ");
        command.error(`error: there is no \`grange granary ${unknown}\`; there are ${known}`);
      }
      const { runGranary } = await import("../granary/run-granary.ts");
      await runGranary(options, program.version);
    });
  ofRunning(command, "status", "what it has, what it is doing, and what is to be sent").action(
    (options: OfGranary, self: Command) =>
      asked(options, async (ask) => ask.status(placed(options, self))),
  );
  ofRunning(command, "builds", "the last builds of this machine").action(
    (options: OfGranary, self: Command) =>
      asked(options, async (ask) => ask.builds(placed(options, self))),
  );
  ofRunning(command, "why", "what a build had from where, and why the rest was late or made")
    .argument("[build]", "its id, or how that begins (default: the last one)")
    .action((build: string | undefined, options: OfGranary, self: Command) =>
      asked(options, async (ask) => ask.why(placed(options, self), build)),
    );
  ofRunning(command, "trim", "remove what was used least lately, down to the limit").action(
    (options: OfGranary, self: Command) =>
      asked(options, async (ask) => ask.trim(placed(options, self))),
  );
  ofRunning(command, "stop", "end it, when it has written down what it knows").action(
    (options: OfGranary, self: Command) =>
      asked(options, async (ask) => ask.stop(placed(options, self))),
  );
  ofRunning(command, "prefetch", "fetch what a build of this checkout needs, ahead of it")
    .option("--dry-run", "only say what would be fetched")
    .option("--commit <rev>", "of another commit than the one that is checked out")
    .option("--project <name>", "whose results", projectName)
    .action((options: AheadOptions, self: Command) =>
      asked(options, async (ask) => ask.prefetch(placed(options, self))),
    );
  const hooks = command.command("hooks").description("let Git tell it of checkouts");
  hooks
    .command("install")
    .description(
      "add a line to the hooks post-checkout, post-merge and post-rewrite of this checkout",
    )
    .action((options: OfGranary) => asked(options, async (ask) => ask.hooks()));
  withExamples(command, [
    ["for one machine, in the foreground", "granary"],
    ["in front of a farm", "granary --server http://farm:8980 --token-file token"],
    ["how it is doing", "granary status"],
    ["why the last build waited, or made things anew", "granary why"],
    ["what a build of another commit would need", "granary prefetch --dry-run --commit v1.2.0"],
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
  return command.option("--data <dir>", "its data directory (GRANGE_GRANARY_DATA)");
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
