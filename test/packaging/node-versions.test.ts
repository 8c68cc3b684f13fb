import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Need, needs } from "../support/needs/needs.ts";
import { runProgram } from "../support/process.ts";
import { sampleRepository } from "../support/sample-repository.ts";
import {
  emptyDirectory,
  type InstalledPackage,
  installPackage,
  npm,
  packPackage,
} from "./installed-package.ts";

/** The major versions that Grange supports; the one that runs this test is covered by all other tests. */
const promised = [20, 22, 24];
const others = promised.filter((major) => !process.versions.node.startsWith(`${major}.`));

/** They come from the npm registry, some 50 MB each, so that only `.ci/run` fetches them. */
const otherNodes: Need = {
  name: `Node ${others.join(" and ")}`,
  missing: process.env["GRANGE_TEST_NODES"] ? undefined : "GRANGE_TEST_NODES is not set",
  remedy: {
    kind: "command",
    command: "GRANGE_TEST_NODES=1 npm test -- test/packaging/node-versions.test.ts",
  },
};

describe("the package under other versions of Node", needs(otherNodes), () => {
  const undo: (() => Promise<unknown>)[] = [];
  afterAll(async () => {
    for (const each of undo.splice(0).toReversed()) await each();
  });

  let directory: string;
  let installed: InstalledPackage;
  beforeAll(async () => {
    const made = await emptyDirectory();
    undo.push(made.remove);
    directory = await realpath(made.path);
    installed = await installPackage((await packPackage(directory)).archive, directory);
  });

  test.each(others)("Node %i runs a repository successfully", async (major) => {
    const { program, version } = await fetchNode(major, directory);
    const repository = await sampleRepository({
      ".grange/jobs.yml": "version: 1\njobs:\n  greet:\n    commands: echo hello\n",
    });
    undo.push(() => repository.remove());
    const grange = join(installed.folder, "bin", "grange.mjs");

    const { code, stdout, stderr } = await runProgram(
      program,
      [grange, "up", "--once", "--json", "--port", "0", "--data", join(directory, `farm-${major}`)],
      { cwd: repository.path },
    );

    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
      state: "succeeded",
    });
    expect((await runProgram(program, ["--version"])).stdout.trim()).toBe(`v${version}`);
  });
});

/** Installs the newest Node of a major version from the npm registry. */
async function fetchNode(
  major: number,
  directory: string,
): Promise<{ program: string; version: string }> {
  const name = `node-${process.platform}-${process.arch}`;
  const prefix = join(directory, `node-${major}`);
  await npm(["install", "--prefix", prefix, `${name}@${major}`], directory);
  const folder = join(prefix, "node_modules", name);
  const text = await readFile(join(folder, "package.json"), "utf8");
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(text));
  return { program: join(folder, "bin", "node"), version };
}
