import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { InvocationActions, InvocationDetail } from "#api/invocation.ts";
import { ToolCaches } from "#api/tool-cache.ts";
import { grpcAddress, type Recipe } from "../../web/pages/connect/recipe.ts";
import { type RecipeName, recipes } from "../../web/pages/connect/recipes.ts";
import { type Farm, grange, startFarm } from "../support/farm.ts";
import { buildStreamNeed, buildStreamProgram } from "../support/needs/buildstream-need.ts";
import { goNeed } from "../support/needs/go-need.ts";
import { ccache, gradle } from "../support/needs/machine-needs.ts";
import { mavenInstallation, mavenNeed } from "../support/needs/maven-need.ts";
import { needs } from "../support/needs/needs.ts";
import { runProgram } from "../support/process.ts";
import { type Bazel, bazelNeed, startBazel } from "./bazel.ts";
import { shortLived } from "./bazel-toolchains.ts";
import { goEnvironment, goModule } from "./caches/go.ts";
import { maven } from "./caches/maven.ts";

let farm: Farm;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "grange-recipes-"));
  farm = await startFarm();
});
afterAll(async () => {
  await farm.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Returns the lines as the page shows them. */
function linesFor(name: RecipeName, project: string): readonly string[] {
  const recipe: Recipe = recipes[name];
  return recipe.lines({ origin: farm.url, project, token: undefined }).map(({ text }) => text);
}

const ask = async (path: string) => (await fetch(`${farm.url}/api/v1${path}`)).json();

test("the lines for Bazel cause a remote build, and Bazel prints the URL of its page", {
  // Bazel's server alone takes ten seconds and more if other builds run at the same time.
  ...needs(bazelNeed),
}, async () => {
  const workspace = join(folder, "workspace");
  await mkdir(workspace);
  const [rc = ""] = linesFor("bazel-remote", "team/app");
  await writeFile(join(workspace, "WORKSPACE"), "");
  await writeFile(join(workspace, ".bazelrc"), `build --nosandbox_debug\n${rc}`);
  await writeFile(
    join(workspace, "BUILD"),
    'genrule(name = "hello", outs = ["hello.txt"], cmd = "echo hello > $@")\n',
  );
  const bazel = await startBazel(workspace);
  try {
    const metadata = `--build_metadata=COMMIT_SHA=${"ab".repeat(20)}`;
    const first = await bazel.run("build", "--config=grange", metadata, "//...");
    expect(first).toMatchObject({ code: 0, processes: { remote: 1 } });
    await bazel.run("clean");
    const second = await bazel.run("build", "--config=grange", metadata, "//...");
    expect(second).toMatchObject({ code: 0, processes: { "remote cache hit": 1 } });

    // Bazel prints the page's URL: its last part is the invocation.
    const [, id = ""] = /\/in\/team%2Fapp\/([0-9a-f-]{36})/.exec(first.text) ?? [];
    const detail = InvocationDetail.parse(await ask(`/invocations/${id}?project=team/app`));
    expect(detail).toMatchObject({
      tool: { name: "bazel" },
      state: "succeeded",
      build: { command: "build", patterns: ["//..."], commit: "ab".repeat(20), exitCode: 0 },
      counts: { hits: 0, succeeded: 1, failed: 0, queued: 0, executing: 0 },
      waiting: null,
      events: { complete: true },
    });
    const actions = await ask(`/invocations/${id}/actions?project=team/app`);
    expect(InvocationActions.parse(actions).actions).toMatchObject([
      { target: "//:hello", mnemonic: "Genrule", state: "succeeded", exitCode: 0 },
    ]);
    const log = await fetch(`${farm.url}/api/v1/invocations/${id}/log?project=team/app`);
    expect(await log.text()).toContain("Build completed successfully");
  } finally {
    await bazel.close();
  }
});

test("with the lines for ccache, two builds share a compilation", needs(ccache), async () => {
  const place = join(folder, "ccache");
  await mkdir(place);
  await writeFile(join(place, "hello.c"), "int main(void) { return 0; }\n");
  const compile = (cache: string) =>
    execFileSync("/bin/sh", ["-ec", linesFor("ccache", "team/app").join("")], {
      cwd: place,
      env: { PATH: process.env["PATH"], HOME: place, CCACHE_DIR: join(place, cache) },
    }).toString();

  compile("first");
  const object = await readFile(join(place, "hello.o"));
  const said = compile("second");

  expect(said).toMatch(/Remote storage:[^]*Hits:\s+[12] \//);
  expect(await readFile(join(place, "hello.o"))).toEqual(object);
});

test("with the lines for Go, a second machine compiles nothing", needs(goNeed), async () => {
  const place = join(folder, "go");
  await mkdir(join(place, "bin"), { recursive: true });
  await goModule(place, ["a", "b"]);
  const program = join(place, "bin", "grange");
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${grange}' "$@"\n`);
  await chmod(program, 0o755);
  const [lines = ""] = linesFor("go", "team/app");
  const buildOn = (machine: string) =>
    execFileSync("/bin/sh", ["-ec", lines], {
      cwd: place,
      env: {
        ...goEnvironment(place),
        PATH: `${join(place, "bin")}:${process.env["PATH"]}`,
        HOME: place,
        GRANGE_GO_DATA: join(place, machine),
      },
      stdio: ["ignore", "pipe", "pipe"],
    });

  buildOn("first");
  const caches = ToolCaches.parse(await ask("/caches")).caches;
  const { entries = 0, hits = 0 } = caches.find(({ tool }) => tool === "gocache") ?? {};
  expect(entries).toBeGreaterThan(0);
  expect(hits).toBe(0);

  buildOn("second");
  const later = ToolCaches.parse(await ask("/caches")).caches;
  expect(later.find(({ tool }) => tool === "gocache")).toMatchObject({ entries });
  expect(later.find(({ tool }) => tool === "gocache")?.hits).toBeGreaterThan(0);
});

test("with the lines for Bazel's caches over gRPC and HTTP, each reads the other's results; the farm downloads for Bazel", {
  ...needs(bazelNeed),
}, async () => {
  const workspace = join(folder, "caching");
  await mkdir(workspace);
  await writeFile(join(workspace, "WORKSPACE"), "");
  await writeFile(
    join(workspace, "BUILD"),
    'genrule(name = "hello", outs = ["hello.txt"], cmd = "echo cached > $@")\n',
  );
  const bazel = await startBazel(workspace);
  const buildBy = async (name: RecipeName) => {
    const [rc = ""] = linesFor(name, "team/cached");
    await writeFile(join(workspace, ".bazelrc"), `build --nosandbox_debug\n${rc}`);
    await bazel.run("clean");
    return bazel.run("build", "--config=grange", "//...");
  };
  try {
    expect(await buildBy("bazel-cache")).toMatchObject({ code: 0 });
    for (const name of ["bazel-cache", "bazel-http"] as const) {
      const again = await buildBy(name);
      expect(again).toMatchObject({ code: 0, processes: { "remote cache hit": 1 } });
    }
    expect((await buildBy("bazel-events")).text).toMatch(/\/in\/team%2Fcached\/[0-9a-f-]{36}/);

    // The same server, because starting another takes ten seconds.
    await downloadsWith(bazel, workspace);
  } finally {
    await bazel.close();
  }
});

/** An archive comes from the farm, which downloaded it once, also when its origin is gone. */
async function downloadsWith(bazel: Bazel, workspace: string): Promise<void> {
  const text = "the downloaded file";
  const askedBy: (string | undefined)[] = [];
  const origin = createServer((request, response) => {
    askedBy.push(request.headers["user-agent"]);
    response.end(text);
  }).listen(0, "127.0.0.1");
  await once(origin, "listening");
  const { port } = origin.address() as AddressInfo;
  const sha256 = createHash("sha256").update(text).digest("hex");
  await writeFile(
    join(workspace, "WORKSPACE"),
    `load("@bazel_tools//tools/build_defs/repo:http.bzl", "http_file")
http_file(name = "data", urls = ["http://127.0.0.1:${port}/data"], sha256 = "${sha256}")
`,
  );
  await writeFile(
    join(workspace, "BUILD"),
    'genrule(name = "hello", srcs = ["@data//file"], outs = ["hello.txt"], cmd = "cp $< $@")\n',
  );
  const address = grpcAddress(farm.url);
  const build = async () => {
    // Otherwise Bazel finds the file in its own directories.
    await bazel.run("clean", "--expunge");
    const flags = [`--experimental_remote_downloader=${address}`, `--remote_cache=${address}`];
    return bazel.run("build", "--repository_cache=", ...flags, "//:hello");
  };
  expect(await build()).toMatchObject({ code: 0 });
  origin.close();
  origin.closeAllConnections();
  expect(await build()).toMatchObject({ code: 0 });
  expect(await readFile(join(workspace, "bazel-bin", "hello.txt"), "utf8")).toBe(text);
  // Bazel names itself in its own requests.
  expect(askedBy).toEqual([undefined]);
}

test("with the lines for Gradle, two builds share a task", { ...needs(gradle) }, async () => {
  const place = join(folder, "gradle");
  await mkdir(join(place, "src/main/java"), { recursive: true });
  const [settings = ""] = linesFor("gradle", "team/app");
  await writeFile(join(place, "settings.gradle"), settings);
  await writeFile(join(place, "build.gradle"), "apply plugin: 'java'\n");
  await writeFile(join(place, "src/main/java/A.java"), "class A {}\n");
  const java = shortLived.join(" ");
  const build = (home: string) =>
    execFileSync(
      "gradle",
      [
        `-Dorg.gradle.jvmargs=${java}`,
        "--no-daemon",
        "--build-cache",
        "--console=plain",
        `--gradle-user-home=${home}`,
        "build",
      ],
      {
        cwd: place,
        env: { ...process.env, GRADLE_OPTS: java },
        stdio: ["ignore", "pipe", "pipe"],
      },
    ).toString();

  build(join(place, "first"));
  await rm(join(place, "build"), { recursive: true });
  await rm(join(place, ".gradle"), { recursive: true });

  expect(build(join(place, "second"))).toMatch(/:compileJava FROM-CACHE/);
});

test("with the lines for Maven, two builds share their modules", needs(mavenNeed), async () => {
  const place = join(folder, "maven");
  const project = join(place, "project");
  await maven.prepare(project);
  const [extensions = "", config = "", shell = ""] = linesFor("maven", "team/app");
  await writeFile(join(project, ".mvn/extensions.xml"), extensions);
  await writeFile(join(project, ".mvn/maven.config"), config);
  const { program = "", repository = "" } = mavenInstallation ?? {};
  const buildOn = async (machine: string) => {
    for (const name of ["one", "two"])
      await rm(join(project, name, "target"), { recursive: true, force: true });
    const local = join(place, machine);
    return execFileSync("/bin/sh", ["-ec", shell], {
      cwd: project,
      env: {
        ...process.env,
        PATH: `${dirname(program)}:${process.env["PATH"]}`,
        MAVEN_ARGS: `--offline -Dmaven.repo.local=${repository} -Dmaven.build.cache.location=${local}`,
        MAVEN_OPTS: shortLived.join(" "),
      },
      stdio: ["ignore", "pipe", "pipe"],
    }).toString();
  };

  expect(await buildOn("first")).not.toContain("Found cached build");
  expect((await buildOn("second")).match(/Found cached build/g)).toHaveLength(2);
});

test("with the lines for BuildStream, a second machine pulls the artifact", {
  ...needs(buildStreamNeed),
}, async () => {
  const place = join(folder, "buildstream");
  await mkdir(join(place, "elements"), { recursive: true });
  await mkdir(join(place, "files"));
  await writeFile(
    join(place, "project.conf"),
    'name: sample\nmin-version: "2.0"\nelement-path: elements\n',
  );
  await writeFile(
    join(place, "elements/hello.bst"),
    "kind: import\nsources:\n- kind: local\n  path: files\n",
  );
  await writeFile(join(place, "files/hello.txt"), "hello\n");
  const [lines = ""] = linesFor("buildstream", "team/app");
  const bst = async (machine: string, ...args: string[]) => {
    const config = join(place, `${machine}.conf`);
    await writeFile(config, `${lines}cachedir: ${join(place, machine)}\n`);
    const options = ["--no-interactive", "--no-colors", "--config", config, ...args];
    const env = { XDG_CACHE_HOME: join(place, "logs") };
    return runProgram(buildStreamProgram ?? "bst", options, { cwd: place, env });
  };

  expect(await bst("first", "build", "hello.bst")).toMatchObject({ code: 0 });
  const pulled = await bst("second", "artifact", "pull", "hello.bst");
  expect(pulled.code).toBe(0);
  expect(pulled.stdout + pulled.stderr).toContain("Pulled artifact");
  const out = join(place, "out");
  const checkout = ["artifact", "checkout", "--directory", out, "hello.bst"];
  expect(await bst("second", ...checkout)).toMatchObject({ code: 0 });
  expect(await readFile(join(out, "hello.txt"), "utf8")).toBe("hello\n");
});
