import type { CommandFacts } from "./command-facts.ts";

/** Returns docs/command-reference.md: each command with its parts, arguments and options. */
export function commandReference(commands: readonly CommandFacts[]): string {
  return [
    "# Reference of commands",
    "",
    "All commands with their arguments and options, as `grange COMMAND --help` has them. [commands.md](commands.md) has them by purpose, and the exit codes.",
    "This page is made by `npm run docs`.",
    ...commands.flatMap((command) => section(command, 2)),
    "",
  ].join("\n");
}

function section(command: CommandFacts, depth: number): string[] {
  const { path, summary, usage, options, commands, after } = command;
  const line = [path, ...(options.length > 0 ? ["[options]"] : []), usage].join(" ").trim();
  const rows = [
    ...command.arguments
      .filter(({ description }) => description !== "")
      .map((each) => [each.name, each.description]),
    ...options.map(({ flags, description, choices }) => [
      flags,
      choices.length === 0 ? description : `${description} (${choices.join(", ")})`,
    ]),
  ];
  return [
    "",
    `${"#".repeat(Math.min(depth, 4))} ${path}`,
    "",
    `${cell(summary)}.`,
    "",
    "```sh",
    line,
    ...after
      .replace(/^Examples:\n/, "")
      .split("\n")
      .filter((each) => each.startsWith("  "))
      .map((each) => each.replace(/^ {2}(?:\$ )?/, "")),
    "```",
    ...(rows.length === 0
      ? []
      : [
          "",
          "| | |",
          "|---|---|",
          ...rows.map(
            ([name = "", text = ""]) => `| \`${name.replaceAll("|", "\\|")}\` | ${cell(text)} |`,
          ),
        ]),
    ...commands.flatMap((part) => section(part, depth + 1)),
  ];
}

/** Text of a table. Signs that Markdown or HTML would interpret are escaped. */
function cell(text: string): string {
  return text.replaceAll(/[|<>*_[\]]/g, (sign) => `\\${sign}`).replaceAll("\n", " ");
}
