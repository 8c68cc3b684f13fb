import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runGrange, startGrange } from "../support/run-grange.ts";
import { sampleRepository } from "../support/sample-repository.ts";

/** A build tool of a few lines: it requests each source from its cache, makes missing results, and stores them. */
const tool = `
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
const cache = process.env.CCACHE_REMOTE_STORAGE;
let made = 0;
for (const name of readdirSync("src").sort()) {
  const source = readFileSync("src/" + name);
  const key = createHash("sha256").update(source).digest("hex").slice(0, 40);
  const address = cache && cache.split("|")[0] + "/" + key.slice(0, 2) + "/" + key.slice(2);
  const found = address && (await fetch(address).catch(() => undefined));
  if (found?.status === 200) { await found.arrayBuffer(); continue; }
  await found?.arrayBuffer();
  made += 1;
  if (address) await fetch(address, { method: "PUT", body: "made of " + source }).catch(() => {});
}
console.log("made " + made);
`;

async function scene(files: Readonly<Record<string, string>> = {}) {
  const directory = await mkdtemp(join(tmpdir(), "grange-exec-"));
  const repository = await sampleRepository({
    "tool.mjs": tool,
    "src/a": "a",
    "src/b": "b",
    "src/c": "c",
    ...files,
  });
  const data = join(directory, "granary");
  const env = {
    GRANGE_SERVER: "",
    XDG_RUNTIME_DIR: "",
    GRANGE_GRANARY_DATA: data,
    HOME: directory,
  };
  const options = { cwd: repository.path, env };
  onTestFinished(async () => {
    await runGrange(["granary", "stop"], options);
    await repository.remove();
    await rm(directory, { recursive: true, force: true });
  });
  const grange = (...args: string[]) => runGrange(args, options);
  const build = (...args: string[]) => grange("exec", ...args, "--", process.execPath, "tool.mjs");
  return { directory, data, repository, options, grange, build };
}

test("the first build starts a granary, and the second finds all its results", async () => {
  const { build, grange } = await scene();

  const first = await build();
  expect(first).toMatchObject({ code: 0, stdout: "made 3\n" });
  expect(first.stderr).toContain("started a granary for this machine");
  expect(first.stderr).toContain("3 results: 0 here before they were requested, 3 made");

  const second = await build();
  expect(second).toMatchObject({ code: 0, stdout: "made 0\n" });
  expect(second.stderr).toContain("3 results: 3 here before they were requested; saved about");
  // The sum of the durations of parallel actions is not the time that the build saved.
  expect(second.stderr).toMatch(/saved about [\d.]+ \w+ of work/);

  const status = await grange("granary", "status", "--json");
  expect(JSON.parse(status.stdout)).toMatchObject({
    farm: null,
    store: { results: 3 },
    builds: [],
    outbox: { results: 0 },
  });
  expect((await grange("granary", "trim")).stdout).toMatch(
    /^removed 0 B, freed [\d.]+ (B|KiB) of disk\n$/,
  );
  expect((await grange("granary", "stop")).stdout).toBe("stopped\n");
  expect((await grange("granary", "status")).code).toBe(1);
});

test("other users cannot read results, even in a directory that was readable", async () => {
  const { build, data } = await scene();
  for (const name of ["packs", "blobs", "outbox"])
    await mkdir(join(data, name), { recursive: true });
  await chmod(data, 0o755);

  expect((await build()).code).toBe(0);

  const folders = ["packs", "blobs", "temp", "outbox", "uploads", "git", "builds", "workspaces"];
  const modes = await Promise.all(
    folders.map(async (name) => ((await stat(join(data, name))).mode & 0o777).toString(8)),
  );
  expect(modes).toEqual(folders.map(() => "700"));
});

test("the exit code and the signal are those of the command", async () => {
  const { grange, options, directory } = await scene();
  expect((await grange("exec", "--", "sh", "-c", "exit 7")).code).toBe(7);
  expect((await grange("exec", "--", "no-such-command-here")).code).toBe(127);
  expect((await grange("exec", "--", "sh", "-c", "kill -TERM $$")).code).toBe(143);
  const flag = join(directory, "told");
  const script = `trap 'echo told > ${flag}; exit 5' TERM; echo ready; while [ -d ${directory} ]; do sleep 0.05; done`;
  const running = startGrange(["exec", "--", "sh", "-c", script], options);
  await running.line((line) => line === "ready");
  running.signal("SIGTERM");
  expect((await running.finished).code).toBe(5);
  expect(await readFile(flag, "utf8")).toBe("told\n");
});

test("without a granary the command runs as it would have", async () => {
  const { build, data } = await scene();
  const alone = await build("--no-start");
  expect(alone).toMatchObject({ code: 0, stdout: "made 3\n" });
  expect(alone.stderr).toMatch(/^grange: running without a granary: .*--no-start.*\n$/);

  await mkdir(data, { recursive: true });
  const silent = await silentServer(join(data, "socket"));
  const unanswered = await build("--no-start");
  silent.close();
  expect(unanswered).toMatchObject({ code: 0, stdout: "made 3\n" });
  expect(unanswered.stderr).toContain("running without a granary");
});

test("a build does not wait for a granary that hangs, whether it hung before or hangs at its start", async () => {
  const { grange, build, data } = await scene();
  await build();
  const { pid } = JSON.parse(await readFile(join(data, "endpoint"), "utf8")) as { pid: number };
  process.kill(pid, "SIGSTOP");
  onTestFinished(() => void process.kill(pid, "SIGCONT"));

  const built = await build();
  expect(built).toMatchObject({ code: 0, stdout: "made 3\n" });
  // No second granary was started; it would have ended five seconds later because of the lock.
  expect(built.stderr).toContain(
    "running without a granary: the running granary did not answer in",
  );
  expect((await grange("granary", "status")).stderr).toMatch(/the granary at .* does not answer/);
  process.kill(pid, "SIGCONT");
  expect((await build()).stdout).toBe("made 0\n");
});

test("settings that cannot be read disable the granary and do not fail the build", async () => {
  const { build } = await scene({ ".grange/granary/settings.yml": "nonsense: [" });
  const built = await build();
  expect(built).toMatchObject({ code: 0, stdout: "made 3\n" });
  expect(built.stderr).toContain("running without a granary");
});

test("a granary that is killed during a build loses the rest of its results, and is restarted", async () => {
  const { build, grange, data, options } = await scene();
  await build();
  const endpoint = JSON.parse(await readFile(join(data, "endpoint"), "utf8")) as { pid: number };
  const script = `kill -9 ${endpoint.pid}; exec ${process.execPath} tool.mjs`;
  const hurt = await runGrange(["exec", "--", "sh", "-c", script], options);
  expect(hurt).toMatchObject({ code: 0, stdout: "made 3\n" });
  expect(hurt.stderr).toContain("may be lost");

  const again = await build();
  expect(again).toMatchObject({ code: 0, stdout: "made 0\n" });
  expect(again.stderr).toContain("started a granary");
  expect((await grange("granary", "status")).code).toBe(0);
});

test("one data directory has one granary, even if four builds start it at once", async () => {
  const { build, grange, data } = await scene();
  const builds = await Promise.all([build(), build(), build(), build()]);
  expect(builds.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  const { pid } = JSON.parse(await readFile(join(data, "endpoint"), "utf8")) as { pid: number };
  const another = await grange("granary", "--no-farm");
  expect(another.code).toBe(1);
  expect(another.stdout).toContain(`runs on ${data} already (process ${pid})`);
});

test("invalid options are reported before any command runs", async () => {
  const { grange, directory } = await scene();
  for (const [args, message] of [
    [["exec", "--project", "a b", "--", "true"], "It must be a name"],
    [["granary", "--log-level", "loud"], "Allowed choices are trace"],
    [["granary", "--port", "99999"], "from 0 to 65535"],
    [["granary", "nonsense"], "the commands are status, builds, why, trim, stop, prefetch, hooks"],
  ] as const) {
    const refused = await grange(...args);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(message);
  }
  const elsewhere = join(directory, "elsewhere");
  for (const args of [
    ["status", "--data", elsewhere],
    ["--data", elsewhere, "status"],
  ]) {
    const unanswered = await grange("granary", ...args);
    expect(unanswered.stderr).toContain(`no granary runs at ${elsewhere}/socket`);
  }
  await writeFile(elsewhere, "no directory");
  expect((await grange("granary", "--data", elsewhere)).stdout).toContain("cannot be made");
});

test("a granary that cannot start prints the reason, and outside of Git no hooks are installed", async () => {
  const { directory, options } = await scene();
  const env = { ...options.env, GRANGE_GRANARY_LIMIT: "huge" };
  const built = await runGrange(["exec", "--", "echo", "built"], { ...options, env });
  expect(built).toMatchObject({ code: 0, stdout: "built\n" });
  expect(built.stderr).toContain("none could be started: GRANGE_GRANARY_LIMIT must be a size");
  const hooked = await runGrange(["granary", "hooks", "install"], { ...options, cwd: directory });
  expect(hooked.stderr).toContain(`${directory} is not in a Git repository`);
});

test("Git reports checkouts to it after the hooks are installed", async () => {
  const { grange, repository } = await scene();
  await writeFile(join(repository.path, ".git/hooks/post-merge"), "#!/bin/sh\nexit 0\n");
  const installed = await grange("granary", "hooks", "install");
  expect(installed.stdout.match(/wrote/g)).toHaveLength(3);
  const hook = await readFile(join(repository.path, ".git/hooks/post-merge"), "utf8");
  expect(hook).toMatch(/^#!\/bin\/sh\n.*granary prefetch.*\nexit 0\n$/);
  expect((await grange("granary", "hooks", "install")).stdout).not.toContain("wrote");
  const ran = spawn("sh", [join(repository.path, ".git/hooks/post-checkout")], { stdio: "ignore" });
  expect(await new Promise((resolve) => ran.once("exit", resolve))).toBe(0);
});

/** Accepts connections, and never responds. */
function silentServer(path: string): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer((socket) => {
      server.once("close", () => socket.destroy());
      socket.on("error", () => {});
    });
    server.listen(path, () => resolve(server));
  });
}
