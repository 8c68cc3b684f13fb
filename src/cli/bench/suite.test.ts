import { mkdtempSync } from "node:fs";
import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runProgram } from "../run-program.ts";

const root = resolve(import.meta.dirname, "../../..");
const grange = (...args: string[]) =>
  runProgram(process.execPath, [join(root, "bin/grange.mjs"), "bench", ...args]);

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "grange-suites-"));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

test("a check says what is wrong and where, and ends with 1", async () => {
  const file = join(folder(), "x.yml");
  await writeFile(file, "suite: x\nheadline: y\n");

  const { exitCode, stdout } = await grange(
    "suite",
    "check",
    file,
    join(root, ".grange/bench/grange.yml"),
  );

  expect(exitCode).toBe(1);
  expect(stdout).toContain(`${file}:1:1: artifacts: is missing`);
  expect(stdout).toMatch(/grange\.yml: grange [0-9a-f]{12} is valid; 6 test cases on each target/);
});

test("sets are balanced without a farm, and written without touching anything else", async () => {
  const here = folder();
  const [file, durations] = [join(here, "typescript.yml"), join(here, "seconds.json")];
  await copyFile(join(root, ".grange/bench/typescript.yml"), file);
  const before = await readFile(file, "utf8");
  await writeFile(durations, JSON.stringify({ rxjs: 4, ethers: 20, ajv: 6, zod: 10 }));
  const balance = (...more: string[]) =>
    grange("sets", "balance", "--suite", file, "--durations", durations, "--json", ...more);

  const dry = await balance("--dry-run");
  expect(await readFile(file, "utf8")).toBe(before);
  const written = await balance("--write");
  const again = await balance("--write");

  expect(JSON.parse(dry.stdout).moves).toEqual([{ benchmark: "ajv", from: 1, to: 0 }]);
  expect(JSON.parse(written.stdout)).toEqual(JSON.parse(dry.stdout));
  expect(JSON.parse(again.stdout).moves).toEqual([]);
  const changed = (await readFile(file, "utf8")).split("\n");
  const differing = before
    .split("\n")
    .flatMap((line, index) => (line === changed[index] ? [] : [[line, changed[index]]]));
  expect(differing).toEqual([["      set: 1", "      set: 0"]]);
});

test("--dry-run and --write together are refused", async () => {
  const { exitCode, stderr } = await grange(
    "sets",
    "balance",
    "--suite",
    "typescript",
    "--dry-run",
    "--write",
  );

  expect(exitCode).toBe(2);
  expect(stderr).toContain("contradict each other");
});
