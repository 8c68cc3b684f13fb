import { execFileSync } from "node:child_process";
import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Granary, startGranaryLab } from "../../../bench/show/granary/granary-lab.ts";
import { needs } from "../../support/needs/needs.ts";
import { commitAll, indexesOf } from "../tools.fixture.ts";
import { duneTwo } from "./dune-machine.ts";

const project = "nested";

/** A program and a library that is a repository of its own, as vendored sources often are. */
async function writeProject(path: string): Promise<{ readonly library: string }> {
  const library = join(path, "vendor/lib");
  await mkdir(join(path, "bin"), { recursive: true });
  await mkdir(library, { recursive: true });
  const files: Readonly<Record<string, string>> = {
    "dune-project": "(lang dune 2.9)\n",
    "bin/dune": "(executable (name main) (libraries lib))\n",
    "bin/main.ml": "let () = print_int Lib.A.two\n",
    ".gitignore": "_build/\nvendor/\n",
    "vendor/lib/dune": "(library (name lib))\n",
    "vendor/lib/a.ml": "let one = 1\nlet two = one + one\n",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  for (const root of [library, path]) {
    execFileSync("git", ["init", "-q", "-b", "main"], { cwd: root });
    commitAll(root);
  }
  return { library };
}

const headOf = (root: string) =>
  execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" }).trim();

/** Builds everything from nothing, and waits until its index is at the farm. */
async function build(granary: Granary, path: string): Promise<void> {
  await rm(join(path, "_build"), { recursive: true, force: true });
  const { code, text } = await granary.exec(["dune", "build", "--root", path], {
    cwd: path,
    env: { XDG_CACHE_HOME: join(granary.data, "cache") },
    more: ["--project", project],
  });
  expect({ code, text }).toMatchObject({ code: 0 });
  await granary.drained();
}

describe("with a real dune 2", { ...needs(duneTwo) }, () => {
  test("rules of a nested repository are indexed under its commit", async () => {
    const lab = await startGranaryLab({ roundTripMs: 5 });
    onTestFinished(() => lab.stop());
    const path = join(lab.work, "program");
    const { library } = await writeProject(path);
    const [outer, inner] = [headOf(path), headOf(library)];
    const granary = await lab.startGranary({});

    await build(granary, path);

    const first = await indexesOf(lab, project);
    expect(Object.keys(first).toSorted()).toEqual([outer, inner].toSorted());
    const ofLibrary = first[inner]?.entries ?? 0;
    expect(ofLibrary).toBeGreaterThan(0);
    expect(first[outer]?.entries).toBeGreaterThan(ofLibrary);

    // The program changes, and the library does not: its index stays as it is.
    await appendFile(join(path, "bin/main.ml"), "let () = print_newline ()\n");
    const next = commitAll(path);
    await build(granary, path);

    const second = await indexesOf(lab, project);
    expect(Object.keys(second).toSorted()).toEqual([outer, inner, next].toSorted());
    expect(second[inner]?.entries).toBe(ofLibrary);
  });
});
