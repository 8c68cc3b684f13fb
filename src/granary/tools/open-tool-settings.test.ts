import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { ccache as ccacheNeed } from "../../../test/support/needs/machine-needs.ts";
import { needs } from "../../../test/support/needs/needs.ts";
import { openToolSettings, type ToolSettingsPlace } from "./open-tool-settings.ts";

let root: string;
beforeEach(() => {
  // A name that a shell would split.
  root = mkdtempSync(join(tmpdir(), "grange's tools-"));
  for (const name of ["bin", "workspace"]) mkdirSync(join(root, name));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Creates a program that prints its arguments, and where it would look for programs. */
function fakeTool(name: string): void {
  writeFileSync(join(root, "bin", name), '#!/bin/sh\necho "$0|$*|$PATH"\n');
  chmodSync(join(root, "bin", name), 0o755);
}

function open(more: Partial<ToolSettingsPlace> = {}) {
  const place = {
    port: 4711,
    build: "b1",
    project: "default",
    variables: { PATH: `${join(root, "bin")}`, HOME: root },
    workingDirectory: join(root, "workspace"),
    ...more,
  };
  return openToolSettings(place, join(root, "data", "tools"));
}

function run(
  program: string,
  args: string[],
  variables: Readonly<Record<string, string>>,
): string[] {
  // Finds the program as a shell does: by the PATH of the build.
  const found = execFileSync("/bin/sh", ["-c", 'exec "$0" "$@"', program, ...args], {
    env: variables,
  });
  return found.toString().trim().split("|");
}

test("Bazel is started with the build's file, sees no shim in PATH, and everything is removed at the end of the build", async () => {
  fakeTool("bazel");
  const settings = await open();

  const [program, args, path] = run("bazel", ["build", "a b"], settings.variables);

  expect(program).toBe(join(root, "bin", "bazel"));
  expect(args).toBe(`--bazelrc=${join(settings.directory, "bazelrc")} build a b`);
  expect(path).toBe(join(root, "bin"));
  expect(readFileSync(join(settings.directory, "bazelrc"), "utf8")).toBe(
    "build --remote_cache=grpc://127.0.0.1:4711\nbuild --remote_instance_name=default\nbuild --remote_header=x-grange-build=b1\nbuild --remote_retries=0\nbuild --jobs=HOST_CPUS*4\n",
  );
  await settings.close();
  expect(existsSync(settings.directory)).toBe(false);
  // A process that outlives the build finds the unchanged Bazel.
  expect(run("bazel", ["info"], settings.variables)[1]).toBe("info");
});

test("two builds at once, and nested builds, each use their own file", async () => {
  fakeTool("bazel");
  const [one, two] = await Promise.all([open(), open({ build: "b2" })]);
  const inner = await open({ build: "b3", variables: one.variables });

  for (const settings of [one, two, inner]) {
    const [, args, path] = run("bazel", [], settings.variables);
    expect(args).toBe(`--bazelrc=${join(settings.directory, "bazelrc")}`);
    expect(path).toBe(join(root, "bin"));
  }
  expect(inner.variables["PATH"]).toBe(one.variables["PATH"]);
  expect(readdirSync(join(root, "data", "tools", "shims", "bazel"))).toEqual(["bazel"]);
});

test("Bazel is not connected to a dead granary, because it builds nothing when its cache does not answer", async () => {
  fakeTool("bazel");
  const granary = spawn("/bin/sleep", ["60"]);
  onTestFinished(() => void granary.kill("SIGKILL"));
  const { variables } = await open({ pid: granary.pid });
  expect(run("bazel", ["build"], variables)[1]).toContain("--bazelrc=");

  granary.kill("SIGKILL");
  await once(granary, "exit");

  expect(run("bazel", ["build"], variables)[1]).toBe("build");
});

test("without Bazel there is no shim for it; Gradle has an init script", async () => {
  fakeTool("gradle");
  const { variables, directory } = await open();

  expect(() => run("bazel", [], variables)).toThrow("bazel");
  expect(run("gradle", ["build"], variables)[1]).toBe(
    `--init-script=${join(directory, "init.gradle")} build`,
  );
  expect(readFileSync(join(directory, "init.gradle"), "utf8")).toContain(
    'url = "http://127.0.0.1:4711/build/b1/cache/default/gradle/"',
  );
});

test("a remote cache of the workspace is kept", async () => {
  fakeTool("bazel");
  writeFileSync(join(root, "workspace", ".bazelrc"), "build --remote_cache=grpc://theirs\n");
  mkdirSync(join(root, ".ccache"));
  writeFileSync(join(root, ".ccache", "ccache.conf"), "remote_storage = http://theirs\n");

  const { variables, leftAlone } = await open();

  expect(run("bazel", ["build"], variables)[1]).toBe("build");
  expect(variables).not.toHaveProperty("CCACHE_REMOTE_STORAGE");
  expect(leftAlone).toHaveLength(2);
  expect((await open({ replace: true })).variables).toHaveProperty("GRANGE_BAZELRC");
});

test("the workspace's number of jobs is kept, also when it is imported", async () => {
  fakeTool("bazel");
  writeFileSync(join(root, "workspace", ".bazelrc"), "import %workspace%/more.bazelrc\n");
  writeFileSync(join(root, "workspace", "more.bazelrc"), "build --jobs=1\n");

  const { directory } = await open();

  expect(readFileSync(join(directory, "bazelrc"), "utf8")).not.toContain("--jobs");
});

test("variables of others have priority", async () => {
  const { variables } = await open({
    extra: { DUNE_CACHE_TRANSPORT: "direct", DUNE_CACHE: "disabled" },
  });

  expect(variables).toMatchObject({ DUNE_CACHE_TRANSPORT: "direct", DUNE_CACHE: "disabled" });
});

test(
  "a real ccache uses the address: a later build finds the results of an earlier one",
  needs(ccacheNeed),
  async () => {
    const kept = new Map<string, Buffer>();
    const asked: string[] = [];
    const server = createServer((request, response) => {
      const [, , build = "", ...rest] = request.url?.split("/") ?? [];
      asked.push(`${request.method} ${build}`);
      const name = rest.join("/");
      void request.toArray().then((chunks: Buffer[]) => {
        if (request.method === "PUT") kept.set(name, Buffer.concat(chunks));
        const body = kept.get(name);
        response.writeHead(body ? 200 : 404).end(request.method === "GET" ? body : undefined);
      });
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    writeFileSync(join(root, "workspace", "x.c"), "int x(void) { return 1; }\n");

    for (const build of ["first", "second"]) {
      const { variables } = await open({
        port,
        build,
        variables: { PATH: "/usr/bin:/bin", HOME: root },
      });
      const env = { ...variables, CCACHE_DIR: join(root, `ccache-${build}`) };
      const ccache = spawn("ccache", ["gcc", "-c", "x.c"], { env, cwd: join(root, "workspace") });
      expect(await once(ccache, "exit")).toEqual([0, null]);
    }

    expect(asked).toEqual([
      "GET first",
      "GET first",
      "PUT first",
      "PUT first",
      "GET second",
      "GET second",
    ]);
  },
);

test("ccache compiles soon when the granary does not answer", {
  ...needs(ccacheNeed),
  // ccache's own timeout is 10 s.
  timeout: 9_000,
}, async () => {
  const server = createServer(() => {});
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const asked = once(server, "request");
  const { port } = server.address() as AddressInfo;
  writeFileSync(join(root, "workspace", "x.c"), "int x(void) { return 1; }\n");
  const { variables } = await open({ port, variables: { PATH: "/usr/bin:/bin", HOME: root } });
  const env = { ...variables, CCACHE_DIR: join(root, "ccache") };

  const ccache = spawn("ccache", ["gcc", "-c", "x.c"], { env, cwd: join(root, "workspace") });

  expect(await once(ccache, "exit")).toEqual([0, null]);
  await asked;
  expect(existsSync(join(root, "workspace", "x.o"))).toBe(true);
});
