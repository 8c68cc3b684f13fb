import { execFileSync } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { javaHome } from "../../../test/build-tools/bazel-toolchains.ts";
import { bazelWorkspace } from "../../../test/build-tools/bazel-workspace.ts";
import { bazelProject, writeFiles } from "./bazel-project.ts";
import { revisionsAfter, writeCcacheProject } from "./ccache-project.ts";
import { emptiedCache } from "./emptied-cache.ts";

/** A project that the show builds repeatedly. */
export interface BuiltProject {
  readonly name: string;
  readonly path: string;
  readonly command: readonly string[];
  /** Its environment in every case; and the one without any cache. */
  readonly env: Readonly<Record<string, string>>;
  readonly uncached: Readonly<Record<string, string>>;
  /** If the tool has its own cache: settings to measure it alone, empty and full. */
  readonly ownCache?: {
    /** Replaces `env`. */
    readonly env: Readonly<Record<string, string>>;
    empty(): Promise<void>;
  };
  /** Settings for a granary's machine, if the tool has its own cache on each. */
  beside?(data: string): Readonly<Record<string, string>>;
  /** Removes the build's outputs, but not the caches. */
  clean(): Promise<void>;
  /** Creates and checks out the n-th commit of its history. */
  commit(n: number): Promise<void>;
  /** Returns a process that works for the build and is not its child; 0: there is none. */
  helper(): number;
  /** Returns a digest of the outputs of a build of the kind `how`. */
  product(how?: string): string;
  close(): Promise<void>;
}

/** C++ with make and ccache, without a cache of its own: it only uses its remote storage. */
export async function ccacheProject(work: string, files: number): Promise<BuiltProject> {
  const path = join(work, "ccache-project");
  const cache = join(work, "ccache-dir");
  const ownCache = emptiedCache(join(work, "ccache-own"));
  await mkdir(path, { recursive: true });
  const project: BuiltProject = {
    name: "ccache",
    path,
    command: ["make", "-s", "-j2", "CXX=ccache g++"],
    env: {
      CCACHE_DIR: cache,
      CCACHE_REMOTE_ONLY: "true",
      CCACHE_COMPILERCHECK: "content",
    },
    uncached: { CCACHE_DISABLE: "1" },
    // Only its own storage, without a granary: the part of a cache's cost that is not Grange's.
    ownCache: {
      env: { CCACHE_DIR: ownCache.path, CCACHE_COMPILERCHECK: "content" },
      empty: () => ownCache.empty(),
    },
    clean: () => rm(join(path, "build"), { recursive: true, force: true }),
    async commit(n) {
      await writeCcacheProject(path, { files }, revisionsAfter(n, files));
      commitAll(path, `commit ${n}`);
    },
    helper: () => 0,
    product: () => sh(path, "cat build/*.o build/app | sha256sum"),
    async close() {
      await rm(cache, { recursive: true, force: true });
      await ownCache.remove();
    },
  };
  sh(path, "git init -q -b main");
  await project.commit(0);
  return project;
}

/** A Bazel workspace of a few hundred actions, built with its own server. */
export async function bazelBuilt(work: string, libraries: number): Promise<BuiltProject> {
  const root = join(work, "bazel-root");
  const workspace = await bazelWorkspace(bazelProject(libraries));
  const { path } = workspace;
  sh(path, "git init -q -b main && echo 'bazel-*' > .gitignore");
  commitAll(path, "commit 0");
  const startup = ["--nohome_rc", `--output_user_root=${root}`, "--max_idle_secs=600"];
  const env = { HOME: root, JAVA_HOME: await javaHome() };
  const disk = emptiedCache(join(work, "bazel-disk"));
  const build = "build --spawn_strategy=local";
  await mkdir(root, { recursive: true });
  const bazel = (...args: string[]) =>
    execFileSync("bazel", [...startup, ...args], {
      cwd: path,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      encoding: "utf8",
    });
  return {
    name: "Bazel",
    path,
    command: ["bash", "-c", `exec bazel ${startup.join(" ")} ${build} $OWN_CACHE //many:all`],
    env,
    uncached: {},
    ownCache: {
      env: { ...env, OWN_CACHE: `--disk_cache=${disk.path}` },
      empty: () => disk.empty(),
    },
    async clean() {
      bazel("clean");
    },
    async commit(n) {
      await writeFiles(path, bazelProject(libraries, revisionsAfter(n, libraries)));
      commitAll(path, `commit ${n}`);
    },
    helper: () => Number(bazel("info", "server_pid").trim()),
    product: () => sh(path, "cat bazel-bin/many/app bazel-bin/many/l*/text.txt | sha256sum"),
    async close() {
      bazel("shutdown");
      await disk.remove();
      sh(work, `chmod -R u+w ${root} && rm -rf ${root}`);
      await workspace.remove();
    },
  };
}

export function commitAll(path: string, message: string): void {
  const as = "-c user.name=show -c user.email=show@example.org";
  sh(path, `git add -A && git ${as} commit -q --allow-empty -m '${message}'`);
}

export function sh(cwd: string, script: string): string {
  return execFileSync("bash", ["-ec", script], { cwd, encoding: "utf8" }).trim();
}
