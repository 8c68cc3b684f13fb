import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";

/**
 * Words of earlier names that terms of the field have replaced, with the terms. They are parts of names: `wish` stands
 * for `wish`, `FetchWish` and `wishOf`.
 */
const retired: Readonly<Record<string, string>> = {
  beacon: "heartbeat",
  chore: "task",
  deed: "action or effect",
  desk: "service or dispatcher",
  doorman: "gate",
  errand: "server job",
  happening: "graph event",
  haul: "leases",
  lesson: "observation",
  shelf: "cache",
  turnings: "generation",
  wish: "request",
};

/** Tables keep their names: a renamed table would stop older servers of the same database. */
const kept: ReadonlySet<string> = new Set(["size_class_lesson"]);

/** Files of this repository that contain names, without generated files and this list. */
const files = execFileSync("git", ["ls-files", "src", "web", "test", "bench", "scripts"], {
  encoding: "utf8",
  maxBuffer: 64 * 1024 * 1024,
})
  .split("\n")
  .filter((file) => /\.(tsx?|mjs)$/.test(file))
  .filter((file) => !file.startsWith("src/proto/") && file !== "test/retired-words.test.ts");

/** Comments and texts are prose, which a person must judge. */
function withoutProse(code: string): string {
  return code
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '""')
    .replaceAll(/(^|[^:])\/\/.*$/gm, "$1");
}

function partsOf(name: string): string[] {
  return name.split(/(?=[A-Z])|[_$-]/).map((part) => part.toLowerCase().replace(/s$/, ""));
}

test("no name has a word that was replaced by a term of the field", () => {
  const found: string[] = [];
  for (const file of files) {
    const names = new Set([
      ...(withoutProse(readFileSync(file, "utf8")).match(/[A-Za-z_$][\w$]*/g) ?? []),
      ...basename(file).split("."),
    ]);
    for (const name of names) {
      if (kept.has(name)) continue;
      for (const part of partsOf(name)) {
        const term = Object.hasOwn(retired, part) ? retired[part] : undefined;
        if (term !== undefined) found.push(`${file}: ${name}: use ${term} instead of ${part}`);
      }
    }
  }
  expect(found).toEqual([]);
});
