import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readDefinitions } from "#definitions/read-definitions.ts";
import { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import { compileGlobs } from "#git/glob.ts";
import { testGroups } from "../scripts/test/test-groups.ts";
import { longFiles } from "./support/long-files-first.ts";

const root = resolve(import.meta.dirname, "..");
const evaluator = new TemplateEvaluator();
afterAll(() => evaluator.stop());
const files = new Map([[".grange/farm.yml", readFileSync(join(root, ".grange/farm.yml"), "utf8")]]);
const commit = { sha: "0".repeat(40), subject: "", author: "", committedAt: new Date(0) };
const context = { repository: root, commit, rev: "HEAD", branch: "main" };
const { jobs } = await readDefinitions(files, {}, context, evaluator);

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => !name.includes("node_modules"))
    .map((name) => join(folder, name))
    .filter((path) => /\.(?:ts|tsx|mjs)$/.test(path) && statSync(join(root, path)).isFile());
}

/**
 * Returns the paths of the checkout that a file names relative to itself: its imports, and files that it reads with
 * `new URL`.
 */
function pathsNamedIn(path: string): string[] {
  const text = readFileSync(join(root, path), "utf8");
  const written = [
    ...text.matchAll(/(?:from|import\()\s*"(\.{1,2}\/[^"]*)"/g),
    ...text.matchAll(/new URL\(\s*"(\.{1,2}\/[^"]*)",\s*import\.meta\.url/g),
    ...text.matchAll(/(?:join|resolve)\(import\.meta\.dirname,\s*"(\.{1,2}\/[^"]*)"/g),
  ].map((match) => match[1] ?? "");
  return written
    .map((name) => relative(root, resolve(root, dirname(path), name)))
    .filter((name) => name !== "" && !name.startsWith(".."))
    .filter((name) => statSync(join(root, name), { throwIfNoEntry: false }) !== undefined);
}

/** The directories whose tests a job runs. */
const testedFolders = new Map(
  jobs.flatMap(({ name, definition }): [string, readonly string[]][] => {
    const command = definition.commands?.join("\n") ?? "";
    if (command.includes("--project modules")) return [[name, ["src", "web"]]];
    const folder = /vitest run --project whole (test\/[a-z-]+)$/.exec(command)?.[1];
    return folder === undefined ? [] : [[name, [folder]]];
  }),
);

test("every directory of tests belongs to a job", () => {
  const folders = readdirSync(join(root, "test"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `test/${entry.name}`)
    .filter((folder) => filesBelow(folder).some((path) => path.endsWith(".test.ts")));
  const tested = [...testedFolders.values()].flat();

  expect(folders.sort()).toEqual(tested.filter((folder) => folder.startsWith("test/")).sort());
});

test.each([...testedFolders])("job %s declares the files that its tests name", (name, folders) => {
  const inputs = jobs.find((job) => job.name === name)?.definition.inputs ?? ["**"];
  const isDeclared = compileGlobs(inputs);
  const outputs = jobs.flatMap(({ definition }) => definition.outputs ?? []);
  const isMade = (path: string) => outputs.some((at) => path === at || path.startsWith(`${at}/`));
  const hasDeclared = (path: string) =>
    isDeclared(path) || inputs.some((pattern) => pattern.startsWith(`${path}/`));

  const missing = folders
    .flatMap(filesBelow)
    .flatMap((path) => pathsNamedIn(path).map((named) => ({ path, named })))
    .filter(({ named }) => !isMade(named) && !hasDeclared(named));

  expect(missing).toEqual([]);
});

test("npm test runs each test file in one group, with the inputs of its job", () => {
  const groups = testGroups(jobs.map(({ name, definition }) => [name, definition]));
  const runs = groups.flatMap(({ project, paths }) =>
    project === "modules" ? ["src/", "web/"] : paths.map((path) => path.replace("*.test.ts", "")),
  );
  const testFiles = ["src", "web", "test"]
    .flatMap(filesBelow)
    .filter((path) => path.endsWith(".test.ts"));
  const timesRun = (path: string) =>
    runs.filter((part) =>
      part === "test/" ? dirname(path) === "test" : path.startsWith(part.replace(/\/?$/, "/")),
    ).length;

  expect(testFiles.filter((path) => timesRun(path) !== 1)).toEqual([]);
});

test("the files that run first exist", () => {
  const exists = (path: string) =>
    statSync(join(root, path), { throwIfNoEntry: false }) !== undefined;

  expect(longFiles.filter((path) => !exists(path))).toEqual([]);
});
