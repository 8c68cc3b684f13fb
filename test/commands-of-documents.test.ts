import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { refusal } from "./support/refusal-of-command.ts";

const root = join(import.meta.dirname, "..");
/** The reference is generated from the commands themselves; decisions name commands of their time. */
const isRead = (file: string) => file !== "command-reference.md" && !file.startsWith("decisions/");
const documents = [
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md") && isRead(file))
    .map((file) => `docs/${file}`),
];

interface Written {
  readonly where: string;
  readonly words: readonly string[];
}

/** Returns the calls of `grange` in the blocks of a document that are for a shell. */
function callsIn(document: string): Written[] {
  const text = readFileSync(join(root, document), "utf8");
  const calls: Written[] = [];
  for (const block of text.matchAll(/^```(sh|console)\n([\s\S]*?)^```/gm)) {
    const [, kind = "", code = ""] = block;
    const firstLine = text.slice(0, block.index).split("\n").length + 1;
    for (const [index, line] of code.split("\n").entries()) {
      // In a console, other lines are output.
      if (kind === "console" && !line.startsWith("$ ")) continue;
      const where = `${document}:${firstLine + index}`;
      const whole = continued(code.split("\n"), index);
      for (const words of commandsOf(whole.replace(/^\$ /, "")))
        if (words[0] === "grange") calls.push({ where, words: words.slice(1) });
    }
  }
  return calls;
}

/** Joins a line with those after it while it ends with a backslash. */
function continued(lines: readonly string[], from: number): string {
  const line = lines[from] ?? "";
  return line.endsWith("\\") ? `${line.slice(0, -1)} ${continued(lines, from + 1)}` : line;
}

/** Splits a line of a shell into the words of its simple commands: enough of the syntax for what documents use. */
function commandsOf(line: string): string[][] {
  const commands: string[][] = [[]];
  const token =
    /#.*|\$\([^)]*\)|'([^']*)'|"((?:[^"\\]|\\.)*)"|(&&|\|\||[|;&])|([<>]+)\s*(\S+)|((?:\\.|\$\([^)]*\)|[^\s'"|;&<>#\\]|(?<=\S)#)+)|\s+/g;
  let isJoined = false;
  for (const found of line.matchAll(token)) {
    const [all, single, double, end, redirected, , bare] = found;
    const words = commands.at(-1) ?? [];
    if (all.startsWith("#") || redirected !== undefined) continue;
    if (end !== undefined) commands.push([]);
    else if (/^\s+$/.test(all)) isJoined = false;
    else {
      const part = single ?? double ?? bare ?? "SUBSTITUTED";
      if (isJoined) words.push(`${words.pop() ?? ""}${part}`);
      else words.push(part);
      isJoined = true;
    }
    if (end !== undefined) isJoined = false;
  }
  // Variables before a command, and programs that run it.
  return commands.map((words) => {
    const from = words.findIndex((word) => !/^[A-Z_]+=/.test(word) && word !== "sudo");
    return from === -1 ? [] : words.slice(from);
  });
}

describe("commands that documents show", () => {
  const calls = documents.flatMap(callsIn);

  test("are found", () => {
    expect(calls.length).toBeGreaterThan(80);
  });

  test("are taken by the program: command, options, and number of arguments", async () => {
    const refused: string[] = [];
    for (const { where, words } of calls) {
      const why = await refusal(words);
      if (why !== undefined) refused.push(`${where}: grange ${words.join(" ")}: ${why}`);
    }
    expect(refused).toEqual([]);
  });

  test.each([
    { words: ["logs", "latest", "unit", "--no-such-option"], why: /unknown option/ },
    { words: ["no-such-command"], why: /there is no command/ },
    { words: ["failures"], why: /missing required argument/ },
  ])("$words would be refused", async ({ words, why }) => {
    expect(await refusal(words)).toMatch(why);
  });
});
