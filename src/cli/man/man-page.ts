import type { CommandFacts } from "../command-facts.ts";
import { exitCodeRows } from "../exit-code.ts";

/**
 * Returns the man page of a command with its parts, or of `grange` itself, in roff with the macros of man(7).
 *
 * The date is left out, so that the page follows from the commands and the version alone.
 */
export function manPage(command: CommandFacts, version: string): string {
  return page(command.path, version, [
    ...name(command.path, command.summary),
    ".SH SYNOPSIS",
    ...synopsis(command),
    ...(command.commands.length === 0
      ? details(command)
      : [...details(command), ...command.commands.flatMap((part) => partSection(part))]),
    ...exitStatus(),
    ".SH SEE ALSO",
    "grange(1)",
  ]);
}

/** Returns the man page of the program, which lists its commands. */
export function programPage(commands: readonly CommandFacts[], version: string): string {
  return page("grange", version, [
    ...name("grange", "a farm that runs a graph of jobs for each commit, and each action once"),
    ".SH SYNOPSIS",
    ".B grange",
    "\\fICOMMAND\\fR [\\fIoptions\\fR]",
    ".SH COMMANDS",
    ...commands.flatMap(({ name: word, summary }) => [".TP", `.B ${text(word)}`, line(summary)]),
    ...exitStatus(),
    ".SH SEE ALSO",
    commands.map(({ name: word }) => `grange\\-${text(word)}(1)`).join(",\n"),
  ]);
}

function page(path: string, version: string, lines: readonly string[]): string {
  const title = path.replaceAll(" ", "-").toUpperCase();
  return [
    `.TH "${text(title)}" "1" "" "grange ${text(version)}" "Grange"`,
    // Without hyphenation: options are copied from the page.
    ".nh",
    ".ad l",
    ...lines,
    "",
  ].join("\n");
}

function name(path: string, summary: string): string[] {
  return [".SH NAME", `${text(path.replaceAll(" ", "-"))} \\- ${text(summary)}`];
}

function synopsis({ path, options, usage }: CommandFacts): string[] {
  const rest = [...(options.length > 0 ? ["[\\fIoptions\\fR]"] : []), text(usage)];
  return [`.B ${text(path)}`, rest.join(" ") || "."].filter((each) => each !== ".");
}

function partSection(part: CommandFacts): string[] {
  return [
    `.SH "${text(part.path.toUpperCase())}"`,
    line(part.summary),
    ".PP",
    ...synopsis(part),
    ...details(part, ".SS"),
    ...part.commands.flatMap(partSection),
  ];
}

function details(command: CommandFacts, heading = ".SH"): string[] {
  const named = command.arguments.filter(({ description }) => description !== "");
  return [
    ...(named.length === 0
      ? []
      : [
          `${heading} ARGUMENTS`,
          ...named.flatMap((each) => [".TP", `.I ${text(each.name)}`, line(each.description)]),
        ]),
    ...(command.options.length === 0
      ? []
      : [
          `${heading} OPTIONS`,
          ...command.options.flatMap(({ flags, description, choices }) => [
            ".TP",
            `.B ${text(flags)}`,
            line(choices.length === 0 ? description : `${description} (${choices.join(", ")})`),
          ]),
        ]),
    ...(command.after === "" ? [] : examples(command.after, heading)),
  ];
}

function examples(after: string, heading: string): string[] {
  const body = after.replace(/^Examples:\n/, "");
  return [
    `${heading} ${body === after ? "NOTES" : "EXAMPLES"}`,
    ".nf",
    ...body.split("\n").map(line),
    ".fi",
  ];
}

function exitStatus(): string[] {
  return [
    ".SH EXIT STATUS",
    ...exitCodeRows.flatMap(({ code, meaning }) => [
      ".TP",
      `.B ${code}`,
      line(meaning.replaceAll("`", "")),
    ]),
  ];
}

/** Escapes what roff interprets within a line. Characters beyond ASCII get their names, whatever encoding is assumed. */
function text(words: string): string {
  return words
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll('"', "\\(dq")
    .replace(/\P{ASCII}/gu, (character) => {
      const point = character.codePointAt(0)?.toString(16).toUpperCase() ?? "";
      return `\\[u${point.padStart(4, "0")}]`;
    });
}

/** The same for a whole line: a dot or an apostrophe at its beginning would be a request. */
function line(words: string): string {
  const escaped = text(words);
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped || ".sp 0";
}
