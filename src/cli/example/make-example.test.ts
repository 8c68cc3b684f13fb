import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { outputOf } from "../run-program.ts";
import { makeExample } from "./make-example.ts";

const dir = await mkdtemp(join(tmpdir(), "grange-example-test-"));
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Returns a version as a registry would send it, packed by the system's tar. */
async function published(version: string, files: Record<string, string>): Promise<Uint8Array> {
  const folder = await mkdtemp(join(dir, "package-"));
  const manifest = { name: "p", version, dependencies: { tslib: "^2.1.0" } };
  for (const [path, text] of Object.entries({
    "package.json": JSON.stringify(manifest),
    ...files,
  })) {
    const at = join(folder, "package", path);
    await mkdir(join(at, ".."), { recursive: true });
    await writeFile(at, text);
  }
  const run = promisify(execFile);
  const { stdout } = await run("tar", ["-C", folder, "-cz", "package"], { encoding: "buffer" });
  return stdout;
}

const history: Record<string, Record<string, string>> = {
  "1.0.0": { "src/a.ts": "1", "src/gone.ts": "", "odd name/é.txt": "" },
  "1.1.0-dev.20260101": { "src/a.ts": "2" },
};

async function make(folder: string): Promise<string> {
  await makeExample(
    {
      name: "p",
      versions: Object.keys(history),
      download: (version) => published(version, history[version] ?? {}),
    },
    folder,
  );
  return await outputOf("git", ["-C", folder, "log", "--format=%H %D %cI %s"]);
}

test("each version is a commit with its tag, the same wherever it is made", async () => {
  const log = await make(join(dir, "one"));

  expect(
    log
      .trim()
      .split("\n")
      .map((line) => line.slice(41)),
  ).toEqual([
    "HEAD -> main, tag: v1.1.0-dev.20260101 2026-01-01T00:00:00+00:00 p 1.1.0-dev.20260101",
    "tag: v1.0.0 2000-01-01T00:00:00+00:00 p 1.0.0",
  ]);
  expect(await make(join(dir, "two"))).toBe(log);
});

test("a commit has its version's files and no other, and definitions that install apart", async () => {
  const folder = join(dir, "three");
  await make(folder);

  const files = (commit: string) =>
    outputOf("git", ["-C", folder, "ls-tree", "-rz", "--name-only", commit]);
  const own = [".grange/farm.yml", ".grange/install/package.json"];
  expect((await files("v1.0.0")).split("\0").filter((name) => name !== "")).toEqual([
    ...own,
    "odd name/é.txt",
    "package.json",
    "src/a.ts",
    "src/gone.ts",
    "tsconfig.grange.json",
  ]);
  expect(await files("main")).not.toContain("gone.ts");
  const install = JSON.parse(await readFile(join(folder, ".grange/install/package.json"), "utf8"));
  expect(install.dependencies).toEqual({ tslib: "^2.1.0", typescript: "5.9.3" });
  expect(await outputOf("git", ["-C", folder, "status", "--porcelain"])).toBe("");
});

test("a package without sources, and a folder with something in it, are refused with a way out", async () => {
  const source = {
    name: "p",
    versions: ["1.0.0"],
    download: () => published("1.0.0", { "a.js": "" }),
  };

  await expect(makeExample(source, join(dir, "four"))).rejects.toThrow(
    /no TypeScript sources.*rxjs/,
  );
  await expect(makeExample(source, dir)).rejects.toThrow(/--out/);
});
