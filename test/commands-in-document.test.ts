import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandList } from "#cli/command-list.ts";

const text = readFileSync(join(import.meta.dirname, "../docs/commands.md"), "utf8");
/** The code in the tables' first column: `grange status`, `runs`, `logs -f`. */
const named = Array.from(text.matchAll(/^\| (`grange .*?) \| /gm), ([, cell = ""]) => cell).flatMap(
  (cell) => Array.from(cell.matchAll(/`(?:grange )?([a-z-]+)[^`]*`/g), ([, name]) => name),
);

test("commands.md lists every command, and no other", () => {
  expect(new Set(named)).toEqual(new Set(Object.keys(commandList)));
});
