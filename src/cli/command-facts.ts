import { Command } from "commander";
import { commandList, type Program } from "./command-list.ts";

/** An option of a command. */
export interface OptionFacts {
  /** As in the help, such as `-f, --file <path>`. */
  readonly flags: string;
  readonly short: string | undefined;
  readonly long: string | undefined;
  readonly description: string;
  readonly takesValue: boolean;
  /** The possible values; empty when any text is possible. */
  readonly choices: readonly string[];
}

/** A command with its parts, as completion, man pages and the reference show it. */
export interface CommandFacts {
  /** The words that call it, such as `grange forge add`. */
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  /** The arguments as in the help, such as `<graph> [job]`. */
  readonly usage: string;
  readonly arguments: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionFacts[];
  /** The text after the options in the help: examples and notes. */
  readonly after: string;
  readonly commands: readonly CommandFacts[];
}

/** Loads all commands, and returns them in the order of the help. */
export async function allCommands(program: Program): Promise<readonly CommandFacts[]> {
  const grange = new Command("grange");
  return Promise.all(
    Object.entries(commandList).map(async ([name, { summary, load }]) => {
      const command = grange.createCommand(name).description(summary);
      (await load())(command, program);
      return factsOf(command, "grange");
    }),
  );
}

function factsOf(command: Command, above: string): CommandFacts {
  const path = `${above} ${command.name()}`;
  return {
    path,
    name: command.name(),
    summary: command.description(),
    usage: command.usage().replace(/^\[options\] ?/, ""),
    arguments: command.registeredArguments.map((each) => ({
      name: each.name(),
      description: each.description,
    })),
    options: command.options
      .filter(({ hidden }) => !hidden)
      .map(({ flags, short, long, description, required, optional, argChoices }) => ({
        flags,
        short,
        long,
        description,
        takesValue: required || optional,
        choices: argChoices ?? [],
      })),
    after: textAfter(command),
    commands: command.commands.map((part) => factsOf(part, path)),
  };
}

/** Returns what `addHelpText("after", …)` was given: Commander keeps it as a listener. */
function textAfter(command: Command): string {
  const texts: string[] = [];
  const listeners = command as unknown as NodeJS.EventEmitter;
  listeners.emit("afterHelp", { error: false, command, write: (text: string) => texts.push(text) });
  return texts.join("").trim();
}

/** Returns the commands and all their parts. */
export function withParts(commands: readonly CommandFacts[]): CommandFacts[] {
  return commands.flatMap((command) => [command, ...withParts(command.commands)]);
}
