import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Command, CommanderError } from "commander";
import { commandList, type Program } from "./command-list.ts";
import { exitCodes } from "./exit-code.ts";
import { endQuietlyOnClosedPipe } from "./terminal/terminal.ts";
import { versionText } from "./version-text.ts";

const entry = fileURLToPath(import.meta.url);
const program: Program = { entry, version: versionBeside(entry) };

endQuietlyOnClosedPipe();
await run(process.argv.slice(2));

async function run(words: readonly string[]): Promise<void> {
  const grange = new Command("grange")
    .description("A commit farm: a graph of jobs for every commit, each action executed once.")
    .version(versionText(program.version))
    .showSuggestionAfterError()
    .exitOverride()
    .addHelpText(
      "after",
      [
        "",
        "Examples:",
        "  $ grange up                 a farm for the repository in this directory",
        "  $ grange status latest      the state of its newest graph",
        "  $ grange logs latest lint   the log of the job lint",
        "",
        "Exit codes: 0 success, 1 failure, 2 invalid command line, 3 no server. More: docs/commands.md.",
      ].join("\n"),
    );

  const called = words.find((word) => !word.startsWith("-") && word !== "help");
  // A command as the first word needs no other, and the version needs none: `exec` runs before each build, and adding
  // all commands would take 10 ms.
  const isAlone = called !== undefined && called === words[0] && Object.hasOwn(commandList, called);
  const isVersion = words[0] === "--version" || words[0] === "-V";
  for (const [name, { summary, load }] of Object.entries(commandList)) {
    if ((isAlone || isVersion) && name !== called) continue;
    const command = grange
      .command(name)
      .description(summary)
      .exitOverride()
      .showHelpAfterError(`Try: grange ${name} --help`);
    if (name !== called) continue;
    (await load())(command, program);
    for (const part of command.commands) {
      part.showHelpAfterError(`Try: grange ${name} ${part.name()} --help`);
    }
  }

  try {
    await grange.parseAsync(words, { from: "user" });
  } catch (reason) {
    if (!(reason instanceof CommanderError)) throw reason;
    process.exitCode = reason.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  }
}

/** package.json lies one folder above the bundle, and two above the source. */
function versionBeside(file: string): string {
  for (const above of ["..", "../.."]) {
    try {
      const text = readFileSync(new URL(`${above}/package.json`, `file://${file}`), "utf8");
      return String((JSON.parse(text) as { version?: unknown }).version);
    } catch {
      // Not there: continue one folder further up.
    }
  }
  return "unknown";
}
