import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Farm, startFarm } from "../support/farm.ts";
import { runProgram } from "../support/process.ts";
import { registryEnvironment } from "../support/registry-environment.ts";
import { grangeJson } from "../support/run-grange.ts";

let farm: Farm;
let scratch: string;
beforeAll(async () => {
  [farm, scratch] = await Promise.all([
    startFarm({ env: registryEnvironment() }),
    mkdtemp(join(tmpdir(), "grange-examples-")),
  ]);
});
afterAll(async () => {
  await farm.stop();
  await rm(scratch, { recursive: true, force: true });
});

async function git(folder: string, ...args: string[]): Promise<string[]> {
  const { stdout } = await runProgram("git", ["-C", folder, ...args]);
  return stdout.trim().split("\n");
}

/** A published package with TypeScript sources, written by another project. */
test.for(["@noble/curves"])(
  "two published versions of %s become a history, and each of its commits ends green",
  // Three installations from the registry and two builds by the TypeScript compiler: minutes on a busy machine.
  { timeout: 1_800_000 },
  async (name) => {
    const folder = join(scratch, name.replace("/", "-"));

    const made = await grangeJson(["example", name, "--versions", "2", "--out", folder], {
      env: registryEnvironment(),
    });

    const { versions } = made as { versions: string[] };
    expect(versions).toHaveLength(2);
    expect(await git(folder, "log", "--reverse", "--format=%s")).toEqual(
      versions.map((version) => `${name} ${version}`),
    );
    expect((await git(folder, "tag")).toSorted()).toEqual(
      versions.map((version) => `v${version}`).toSorted(),
    );

    const ends = [];
    for (const version of versions) {
      const { id } = await farm.submit({ repository: folder, rev: `v${version}` });
      const { state, jobList } = await farm.untilOver(id);
      expect({ version, state, jobs: jobList.map((job) => [job.name, job.reason]) }).toMatchObject({
        state: "succeeded",
      });
      ends.push(new Map(jobList.map((job) => [job.name, job.cached])));
    }
    // A job whose inputs are the same in both versions is not executed for the second.
    const changed = await git(folder, "diff", "--name-only", `v${versions[0]}`, `v${versions[1]}`);
    expect(changed).toContain("package.json");
    expect(ends[0]?.get("install")).toBe(false);
    expect(ends[1]).toEqual(
      new Map([
        ["install", !changed.includes(".grange/install/package.json")],
        ["types", false],
        ["pack", false],
      ]),
    );

    // A commit that was run before executes nothing.
    const again = await farm.submit({ repository: folder, rev: `v${versions[0]}` });
    const { jobList } = await farm.untilOver(again.id);
    expect(jobList.filter((job) => !job.cached)).toEqual([]);
  },
);
