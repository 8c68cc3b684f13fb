import { copyFile, readdir, readFile, realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { runProgram, startProgram } from "../support/process.ts";
import { sampleRepository } from "../support/sample-repository.ts";
import {
  checkout,
  emptyDirectory,
  type InstalledPackage,
  installPackage,
  type PackedPackage,
  packPackage,
} from "./installed-package.ts";

const undo: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const each of undo.splice(0).toReversed()) await each();
});

let directory: string;
let packed: PackedPackage;
let installed: InstalledPackage;
beforeAll(async () => {
  const made = await emptyDirectory();
  undo.push(made.remove);
  directory = await realpath(made.path);
  // `npm pack` itself does this, and builds dist/ anew.
  await runProgram(process.execPath, [join(checkout, "scripts", "software-bill.mjs")]);
  packed = await packPackage(directory);
  installed = await installPackage(packed.archive, directory);
});

const definitions = "version: 1\njobs:\n  greet:\n    commands: echo hello\n";
const versionLine = /^\d+\.\d+\.\d+ \(commit (?:[0-9a-f]{10}(?:-changed)?|unknown)\)\n$/;

test("the package contains programs, pages, migrations, protocol files and the licence", () => {
  const paths = new Set(packed.files.map((file) => file.path));
  const missing = [
    "LICENSE",
    "README.md",
    "package.json",
    "bin/grange.mjs",
    "dist/grange.js",
    "dist/grange-worker.mjs",
    "dist/grange-granary.mjs",
    "dist/json-e.cjs",
    "dist/migrations/0001_execution.sql",
    "dist/man/grange-status.1",
    "dist/web/index.html",
    "docs/schema/definitions.schema.json",
    "proto/build/bazel/remote/execution/v2/remote_execution.proto",
  ].filter((path) => !paths.has(path));

  expect(missing).toEqual([]);
});

const Bill = z.object({
  bomFormat: z.literal("CycloneDX"),
  metadata: z.object({ component: z.object({ name: z.string() }) }),
  components: z.array(
    z.object({
      name: z.string(),
      version: z.string(),
      purl: z.string(),
      licenses: z.array(z.unknown()).min(1),
    }),
  ),
});

test("the package contains a CycloneDX list of the packages that are part of it", async () => {
  const text = await readFile(join(installed.folder, "dist", "sbom.cdx.json"), "utf8");
  const { metadata, components } = Bill.parse(JSON.parse(text));
  const names = components.map(({ name }) => name);

  expect(metadata.component.name).toBe("grange");
  expect(names).toEqual(expect.arrayContaining(["hono", "pg", "zod", "react"]));
  expect(names).not.toContain("vitest");
});

test("the package contains each file of the demo project, hidden ones too", async () => {
  const paths = new Set(packed.files.map((file) => file.path));
  const entries = await readdir(join(checkout, "dist", "demo-project"), {
    recursive: true,
    withFileTypes: true,
  });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(checkout, join(entry.parentPath, entry.name)));

  expect(files.length).toBeGreaterThan(10);
  expect(files.filter((file) => !paths.has(file))).toEqual([]);
});

test("the package contains nothing else: no sources, tests, source maps or local files", () => {
  const expected =
    /^(?:LICENSE|README\.md|package\.json|bin\/grange\.mjs|dist\/[^/]+\.(?:js|mjs|cjs)|dist\/sbom\.cdx\.json|dist\/(?:completion|demo-project|man|migrations|web)\/.+|docs\/schema\/.+|proto\/.+\.proto)$/;
  const unexpected = packed.files
    .map((file) => file.path)
    .filter((path) => !expected.test(path) || /\.(?:map|pem|key|env)$/.test(path))
    .concat(
      // The demo project contains tests.
      packed.files
        .map((file) => file.path)
        .filter((path) => /\.test\.\w+$/.test(path) && !path.startsWith("dist/demo-project/")),
    );

  expect(unexpected).toEqual([]);
});

test("the package without PostgreSQL is at most 16 MB", () => {
  const bytes = packed.files.reduce((sum, file) => sum + file.size, 0);

  expect(bytes).toBeLessThan(16_000_000);
  expect(packed.archiveBytes).toBeLessThan(5_000_000);
});

test("the installed command prints version and commit", async () => {
  const { code, stdout } = await runProgram(installed.command, ["--version"]);

  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(versionLine) });
});

test("the installed command keeps its compiled code beside the package of its user", async () => {
  await runProgram(installed.command, ["--version"]);

  const caches = await readdir(join(installed.folder, "dist", "code-cache"));

  expect(caches.filter((name) => name.startsWith("--version-"))).toHaveLength(1);
});

test("`grange up` of the installed package runs another project's repository successfully", async () => {
  const repository = await sampleRepository({ ".grange/jobs.yml": definitions });
  undo.push(() => repository.remove());

  const { code, stdout, stderr } = await runProgram(
    installed.command,
    ["up", "--once", "--json", "--port", "0", "--data", join(directory, "farm")],
    { cwd: repository.path },
  );

  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
    state: "succeeded",
  });
});

test("the worker's file alone runs jobs for a server of the installed package", async () => {
  const alone = await aloneIn("grange-worker.mjs");
  const repository = await sampleRepository({ ".grange/jobs.yml": definitions });
  undo.push(() => repository.remove());
  const options = ["--port", "0", "--data", join(directory, "server")];
  const server = startProgram(installed.command, ["server", ...options]);
  undo.push(() => stopped(server));
  const { url } = ServerReady.parse(JSON.parse(await server.line(() => true)));
  const worker = startProgram(
    process.execPath,
    [alone.file, "--server", url, "--name", "alone", "--data", join(alone.folder, "data")],
    { cwd: alone.folder },
  );
  undo.push(() => stopped(worker));

  const version = await runProgram(process.execPath, [alone.file, "--version"]);
  const submitted = await runProgram(
    installed.command,
    ["submit", "--wait", "--server", url, "--json"],
    { cwd: repository.path },
  );

  expect(version.stdout).toMatch(versionLine);
  expect({ code: submitted.code, stderr: submitted.stderr }).toMatchObject({ code: 0 });
});

test("the granary's file alone starts, answers and stops", async () => {
  const alone = await aloneIn("grange-granary.mjs");
  const data = join(alone.folder, "data");
  const env = {
    GRANGE_GRANARY_DATA: data,
    GRANGE_GRANARY_SOCKET: join(alone.folder, "socket"),
    GRANGE_SERVER: "",
  };
  const granary = startProgram(process.execPath, [alone.file], { cwd: alone.folder, env });
  undo.push(() => stopped(granary));
  const ready: unknown = JSON.parse(await granary.line(() => true));

  const version = await runProgram(process.execPath, [alone.file, "--version"]);
  const build = await runProgram(process.execPath, [alone.file, "exec", "--", "true"], {
    cwd: alone.folder,
    env,
  });
  const stop = await runProgram(process.execPath, [alone.file, "stop"], { env });

  expect(ready).toMatchObject({ ready: true });
  expect(version.stdout).toMatch(versionLine);
  expect({ code: build.code, stderr: build.stderr }).toMatchObject({ code: 0 });
  expect(stop.code).toBe(0);
  expect((await granary.finished).code).toBe(0);
});

const ServerReady = z.object({ ready: z.literal(true), url: z.url() });

/** Copies one file of the package into an empty directory. */
async function aloneIn(file: string): Promise<{ folder: string; file: string }> {
  const made = await emptyDirectory();
  undo.push(made.remove);
  const path = join(made.path, file);
  await copyFile(join(installed.folder, "dist", file), path);
  return { folder: made.path, file: path };
}

async function stopped(program: ReturnType<typeof startProgram>): Promise<void> {
  program.signal("SIGTERM");
  await program.finished;
}
