import { type CommandFacts, type OptionFacts, withParts } from "../command-facts.ts";
import type { Shell } from "./shells.ts";

/** Returns the script that completes commands, options and values of options in a shell. */
export function completionScript(shell: Shell, commands: readonly CommandFacts[]): string {
  switch (shell) {
    case "bash":
      return bashScript(commands);
    case "zsh":
      return zshScript(commands);
    case "fish":
      return fishScript(commands);
  }
}

/** A place in the line: the words of the command so far, as `grange/forge/add`. */
interface Place {
  readonly key: string;
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly OptionFacts[];
}

const help: OptionFacts = {
  flags: "-h, --help",
  short: "-h",
  long: "--help",
  description: "display help for command",
  takesValue: false,
  choices: [],
};
const version: OptionFacts = {
  ...help,
  long: "--version",
  description: "output the version",
  short: "-V",
};

function placesOf(commands: readonly CommandFacts[]): Place[] {
  return [
    { key: "grange", commands, options: [version, help] },
    ...withParts(commands).map((command) => ({
      key: command.path.replaceAll(" ", "/"),
      commands: command.commands,
      options: [...command.options, help],
    })),
  ];
}

const namesOf = ({ short, long }: OptionFacts) =>
  [short, long].filter((name) => name !== undefined);

/** Words in scripts: quoted for all three shells, in which only the quote itself and, for fish, a backslash are special. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}

/** Lines of a case statement that go one command deeper. */
const deeperKeys = (places: readonly Place[]) =>
  places.filter(({ key }) => key !== "grange").map(({ key }) => key);

function bashScript(commands: readonly CommandFacts[]): string {
  const places = placesOf(commands);
  return [
    '# Completion of grange for bash: eval "$(grange completion bash)"',
    "_grange() {",
    "  local at=grange current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words='' i",
    "  for ((i = 1; i < COMP_CWORD; i++)); do",
    '    case "$at/${COMP_WORDS[i]}" in',
    `      ${deeperKeys(places).join("|")}) at="$at/\${COMP_WORDS[i]}" ;;`,
    "    esac",
    "  done",
    "  COMPREPLY=()",
    '  case "$at $previous" in',
    ...places.flatMap(({ key, options }) =>
      options.flatMap((option) => {
        if (!option.takesValue) return [];
        const patterns = namesOf(option).map((name) => quoted(`${key} ${name}`));
        const words =
          option.choices.length === 0 ? "" : `words=${quoted(option.choices.join(" "))};`;
        // Without choices, the shell completes names of files (`complete -o default`).
        return [
          `    ${patterns.join("|")}) ${words === "" ? "return" : `${words} COMPREPLY=($(compgen -W "$words" -- "$current")); return`} ;;`,
        ];
      }),
    ),
    "  esac",
    '  case "$at" in',
    ...places.map(({ key, commands: parts, options }) => {
      const names = parts.map(({ name }) => name).join(" ");
      const flags = options.flatMap(({ long }) => long ?? []).join(" ");
      return `    ${key}) if [[ $current == -* ]]; then words=${quoted(flags)}; else words=${quoted(names)}; fi ;;`;
    }),
    "  esac",
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    "}",
    "complete -o default -F _grange grange",
    "",
  ].join("\n");
}

function zshScript(commands: readonly CommandFacts[]): string {
  const places = placesOf(commands);
  const entry = (name: string, text: string) =>
    quoted(`${name.replaceAll(":", "\\:")}:${text.replaceAll("\\", "\\\\")}`);
  return [
    "#compdef grange",
    '# Completion of grange for zsh: eval "$(grange completion zsh)"',
    "_grange() {",
    "  local at=grange i",
    "  local -a entries flags",
    "  for ((i = 2; i < CURRENT; i++)); do",
    '    case "$at/${words[i]}" in',
    `      (${deeperKeys(places).join("|")}) at="$at/\${words[i]}" ;;`,
    "    esac",
    "  done",
    '  case "$at ${words[CURRENT-1]}" in',
    ...places.flatMap(({ key, options }) =>
      options.flatMap((option) => {
        if (!option.takesValue) return [];
        const patterns = namesOf(option).map((name) => quoted(`${key} ${name}`));
        const action =
          option.choices.length === 0
            ? "_files"
            : `compadd -- ${option.choices.map(quoted).join(" ")}`;
        return [`    (${patterns.join("|")}) ${action}; return ;;`];
      }),
    ),
    "  esac",
    '  case "$at" in',
    ...places.map(({ key, commands: parts, options }) => {
      const entries = parts.map(({ name, summary }) => entry(name, summary)).join(" ");
      const flags = options.flatMap(({ long, description }) =>
        long === undefined ? [] : [entry(long, description)],
      );
      return `    (${key}) entries=(${entries}) flags=(${flags.join(" ")}) ;;`;
    }),
    "  esac",
    "  if [[ $PREFIX == -* ]]; then _describe -o option flags",
    "  elif ((${#entries})); then _describe command entries",
    "  else _files; fi",
    "}",
    "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }",
    "compdef _grange grange",
    "",
  ].join("\n");
}

function fishScript(commands: readonly CommandFacts[]): string {
  const places = placesOf(commands);
  const fish = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  return [
    "# Completion of grange for fish: grange completion fish | source",
    "function __grange_at",
    "  set -l at grange",
    "  for word in (commandline -opc)[2..-1]",
    '    switch "$at/$word"',
    `      case ${deeperKeys(places).map(fish).join(" ")}`,
    '        set at "$at/$word"',
    "    end",
    "  end",
    '  test "$at" = "$argv[1]"',
    "end",
    "complete -c grange -e",
    ...places.flatMap(({ key, commands: parts, options }) => {
      const at = `complete -c grange -n ${fish(`__grange_at ${key}`)}`;
      return [
        // Where a command has parts, its first word is no file.
        ...parts.map(({ name, summary }) => `${at} -f -a ${fish(name)} -d ${fish(summary)}`),
        ...options.map((option) => {
          const { short, long, description, takesValue, choices } = option;
          const names = [
            ...(short === undefined ? [] : [`-s ${fish(short.slice(1))}`]),
            ...(long === undefined ? [] : [`-l ${fish(long.slice(2))}`]),
          ];
          const value = !takesValue
            ? ""
            : choices.length === 0
              ? " -r"
              : ` -x -a ${fish(choices.join(" "))}`;
          return `${at} ${names.join(" ")}${value} -d ${fish(description)}`;
        }),
      ];
    }),
    "",
  ].join("\n");
}
