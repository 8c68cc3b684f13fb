import { type Command, InvalidArgumentError, Option } from "commander";

/** Options of commands that call a server. */
export function speaksToServer(command: Command): Command {
  return answersJson(command)
    .option("--server <url>", "the farm's address (GRANGE_SERVER; default http://127.0.0.1:8980)")
    .option("--token-file <file>", "a file that contains your token (GRANGE_TOKEN)");
}

export function answersJson(command: Command): Command {
  return command.option("--json", "print JSON, for programs");
}

/**
 * Adds examples to the help: a description, then the command; without a description, the command continues the previous
 * one.
 */
export function withExamples(
  command: Command,
  examples: readonly (readonly [what: string, line: string])[],
): Command {
  const lines = examples.flatMap(([what, line]) => [
    ...(what === "" ? [] : [`  # ${what}`]),
    `  $ grange ${line}`,
  ]);
  return command.addHelpText("after", ["", "Examples:", ...lines].join("\n"));
}

/** Collects an option that may be repeated. */
export function repeated(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

export function logLevel(): Option {
  return new Option("--log-level <level>", "the level of its log")
    .choices(["trace", "debug", "info", "warn", "error", "silent"])
    .default("info");
}

/** Parses a project's name, as farms and granaries accept it. */
export function projectName(text: string): string {
  if (text.length <= 200 && /^[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*$/.test(text)) return text;
  throw new InvalidArgumentError("It must be a name, such as default or team/web.");
}
