import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { allCommands, type CommandFacts, withParts } from "../command-facts.ts";
import { completionScript } from "./completion-script.ts";
import { type Shell, shells } from "./shells.ts";

const commands = await allCommands({ entry: "", version: "1.2.3" });

/** Returns what bash offers after the words of a line; the last one is incomplete. */
async function offered(...words: readonly string[]): Promise<string[]> {
  const line = words.map((word) => `'${word}'`).join(" ");
  const program = `${completionScript("bash", commands)}
COMP_WORDS=(grange ${line}); COMP_CWORD=${words.length}; _grange; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await promisify(execFile)("bash", ["-c", program]);
  return stdout.trim().split("\n");
}

test.each([
  { words: ["retr"], expected: ["retrigger"] },
  { words: ["share", "re"], expected: ["revoke"] },
  { words: ["share", "l"], expected: ["log", "list"] },
  { words: ["retrigger", "--al"], expected: ["--alone"] },
  { words: ["retrigger", "lint", "--al"], expected: ["--alone"] },
  { words: ["server", "--log-level", "e"], expected: ["error"] },
  { words: ["completion", "--h"], expected: ["--help"] },
  { words: ["status", "--token-file", "x"], expected: [""] },
])("after $words bash offers $expected", async ({ words, expected }) => {
  expect(new Set(await offered(...words))).toEqual(new Set(expected));
});

test.each(shells)("the script for %s has every command, part and option", (shell: Shell) => {
  const script = completionScript(shell, commands);
  const missing = withParts(commands).filter(
    (command) => !names(command, shell).every((each) => script.includes(each)),
  );

  expect(missing.map(({ path }) => path)).toEqual([]);
});

function names({ path, options }: CommandFacts, shell: Shell): string[] {
  const flags = options.flatMap(({ long }) => long ?? []);
  return [
    path.replaceAll(" ", "/"),
    ...flags.map((flag) => (shell === "fish" ? `-l '${flag.slice(2)}'` : flag)),
  ];
}

test("a quote or backslash in a description cannot end the script's string", () => {
  const hostile: CommandFacts = {
    path: "grange x",
    name: "x",
    summary: "it's \\' $(touch /tmp/no)",
    usage: "",
    arguments: [],
    options: [],
    after: "",
    commands: [],
  };

  expect(completionScript("zsh", [hostile])).toContain(`'x:it'"'"'s \\\\'"'"' $(touch /tmp/no)'`);
  expect(completionScript("fish", [hostile])).toContain("-d 'it\\'s \\\\\\' $(touch /tmp/no)'");
});
