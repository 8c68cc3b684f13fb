import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "#core/fault.ts";
import type { Measurement, Row } from "../row.ts";
import { type Edit, type Recipe, recipes } from "./recipes.ts";

const run = promisify(execFile);

/** Tries each recipe of CONTRIBUTING.md on a temporary copy of the working tree. */
export const recipeRows: Measurement = {
  title: "recipes of CONTRIBUTING.md, tried",
  long: false,
  measure: async () => {
    const copy = await mkdtemp(join(tmpdir(), "grange-recipes-"));
    try {
      await run("cp", ["-r", "src", "web", "test", "bench", "scripts", "proto", copy]);
      for (const file of ["package.json", "tsconfig.json", "tsconfig.web.json"])
        await run("cp", [file, copy]);
      await symlink(resolve("node_modules"), join(copy, "node_modules"));
      const rows: Row[] = [];
      for (const recipe of recipes) rows.push(await rowOf(copy, recipe));
      return rows;
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  },
};

async function rowOf(copy: string, { name, mostFiles, edits }: Recipe): Promise<Row> {
  const files = [...new Set(edits.map(({ file }) => file))];
  const before = await Promise.all(
    files.map(
      async (file) =>
        [file, await readFile(join(copy, file), "utf8").catch(() => undefined)] as const,
    ),
  );
  try {
    const problems = await problemsOf(copy, edits);
    return {
      name: `recipe: ${name}`,
      figure: files.length,
      unit: "files",
      goal: `≤ ${mostFiles} files`,
      holds: problems === "" && files.length <= mostFiles,
      how:
        problems === ""
          ? `the files were changed in a copy, and it compiled: ${files.join(", ")}`
          : `the recipe does not work: ${problems.split("\n")[0] ?? ""}`,
    };
  } finally {
    for (const [file, text] of before) {
      if (text === undefined) await rm(join(copy, file), { force: true });
      else await writeFile(join(copy, file), text);
    }
  }
}

/** Applies edits to the copy and compiles it. Returns the errors; empty without any. */
async function problemsOf(copy: string, edits: readonly Edit[]): Promise<string> {
  try {
    for (const edit of edits) await apply(copy, edit);
  } catch (reason) {
    // The other recipes are still tried.
    return messageOf(reason);
  }
  return run("npx", ["--no-install", "tsc"], { cwd: copy }).then(
    () => "",
    (reason: { stdout?: string }) => reason.stdout || "tsc could not be run",
  );
}

async function apply(copy: string, edit: Edit): Promise<void> {
  const path = join(copy, edit.file);
  if ("content" in edit) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, edit.content);
    return;
  }
  const text = await readFile(path, "utf8");
  const parts = text.split(edit.behind);
  if (parts.length !== 2)
    throw new Error(`${edit.file} has ${JSON.stringify(edit.behind)} ${parts.length - 1} times`);
  await writeFile(path, parts.join(edit.behind + edit.text));
}
