import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

/** Exports that no file imports, with the reason to keep them: people call them by hand, or a tool uses their name. */
const kept: Readonly<Record<string, string>> = {
  "bench/show/benchmark-lab/numerics/compare-with-oracle.ts: writeOracleVectors":
    "writes src/statistics/oracle-vectors.fixture anew",
  "bench/show/codebase/recipes.ts: openElsewhereStorage":
    "in the text of a file that a recipe writes",
  "bench/show/codebase/recipes.ts: triedKind": "in the text of a file that a recipe writes",
  "test/support/global-setup.ts: setup": "vitest calls it",
  "test/support/long-files-first.ts: LongFilesFirst": "vitest.config.ts imports it",
  "scripts/test/project-of-directory.ts: projectOfDirectory": "vitest.config.ts imports it",
};

const files = execFileSync("git", ["ls-files", "src", "web", "test", "bench", "scripts", "bin"], {
  encoding: "utf8",
  maxBuffer: 64 * 1024 * 1024,
})
  .split("\n")
  .filter((file) => /\.(tsx?|mjs)$/.test(file))
  .filter((file) => !file.startsWith("src/proto/") && !file.includes("/demo-project/"));
const texts = new Map(files.map((file) => [file, readFileSync(file, "utf8")]));

function resolved(from: string, specifier: string): string {
  return specifier.startsWith("#") ? `src/${specifier.slice(1)}` : join(dirname(from), specifier);
}

/** Names that other files import, by file. A file that is loaded as a whole counts as completely imported. */
function importedNames(): Map<string, Set<string> | "all"> {
  const imported = new Map<string, Set<string> | "all">();
  for (const [from, text] of texts) {
    for (const [, list = "", specifier = ""] of text.matchAll(
      /(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+"([#.][^"]+)"/g,
    )) {
      const file = resolved(from, specifier);
      const names = imported.get(file) ?? new Set();
      if (names === "all") continue;
      for (const each of list.split(",")) {
        const [name = ""] = each
          .trim()
          .replace(/^type\s+/, "")
          .split(/\s+as\s+/);
        names.add(name);
      }
      imported.set(file, names);
    }
    for (const [, specifier = ""] of text.matchAll(
      /(?:import\(|\*(?:\s+as\s+\w+)?\s+from|new URL\()\s*"([#.][^"]+)"/g,
    )) {
      imported.set(resolved(from, specifier), "all");
    }
  }
  return imported;
}

test("each export is imported by another file", () => {
  const imported = importedNames();
  const unused = files.flatMap((file) => {
    const names = imported.get(file);
    if (names === "all") return [];
    return [
      ...(texts.get(file) ?? "").matchAll(
        /^export (?:async )?(?:function\*?|const|let|class|interface|type|enum) ([\w$]+)/gm,
      ),
    ]
      .map(([, name = ""]) => name)
      .filter((name) => !names?.has(name))
      .map((name) => `${file}: ${name}`);
  });

  expect([...new Set(unused)].filter((each) => !Object.hasOwn(kept, each))).toEqual([]);
});
