import { existsSync, readFileSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  sixtyModules,
  type ToyProject,
  writeToyProject,
} from "../../../test/granary/dune/toy-project.ts";
import { emptiedCache } from "./emptied-cache.ts";
import { type BuiltProject, commitAll, sh } from "./project.ts";

/** A project that dune builds, with the rules that dune ran in each build. */
export interface DuneProject extends BuiltProject {
  /** Returns the number of rules executed in each build of this kind. */
  readonly executed: (how: string) => readonly number[];
}

interface DuneWorkspace {
  readonly name: string;
  readonly path: string;
  /** Arguments of `dune build`. */
  readonly args: readonly string[];
  /** The outputs, as shell words below `_build/default`. */
  readonly outputs: string;
  readonly commit: (n: number) => Promise<void>;
}

/** dune's own cache belongs to a machine, like the granary's data: each granary has its own. */
function builtByDune({ name, path, args, outputs, commit }: DuneWorkspace): DuneProject {
  const ran = new Map<string, number[]>();
  const ownCache = emptiedCache(join(path, "../own-cache-of-dune"));
  return {
    name,
    path,
    command: ["dune", "build", "--root", path, "-j2", ...args],
    env: { XDG_CACHE_HOME: join(path, "../no-cache-of-dune") },
    uncached: { DUNE_CACHE: "disabled" },
    // The behaviour of dune 2.9 itself, without a daemon.
    ownCache: {
      env: {
        XDG_CACHE_HOME: ownCache.path,
        DUNE_CACHE: "enabled",
        DUNE_CACHE_TRANSPORT: "direct",
      },
      empty: () => ownCache.empty(),
    },
    beside: (data) => ({ XDG_CACHE_HOME: join(data, "cache") }),
    clean: () => rm(join(path, "_build"), { recursive: true, force: true }),
    commit,
    helper: () => 0,
    product(how = "") {
      ran.set(how, [...(ran.get(how) ?? []), executedIn(path)]);
      return sh(path, `cd _build/default && cat ${outputs} | sha256sum`);
    },
    executed: (how) => ran.get(how) ?? [],
    async close() {
      await ownCache.remove();
      await rm(path, { recursive: true, force: true });
    },
  };
}

/** Modules in libraries that depend on each other: about six hundred rules. */
export async function duneToy(work: string, toy: ToyProject = sixtyModules): Promise<DuneProject> {
  const path = join(work, "dune-toy");
  await mkdir(path, { recursive: true });
  const project = builtByDune({
    name: "dune",
    path,
    args: [],
    outputs: "bin/main.exe lib*/*.a lib*/.lib*.objs/*/*.cm[ix]",
    async commit(n) {
      await writeToyProject(path, toy);
      commitAll(path, `commit ${n}`);
    },
  });
  sh(path, "git init -q -b main && echo _build > .gitignore");
  await project.commit(0);
  return project;
}

/** dune's own sources: the seed's annex. */
export async function duneItself(work: string, checkout: string): Promise<DuneProject> {
  const path = join(work, "dune-sources");
  sh(work, `git clone -q --no-hardlinks ${JSON.stringify(checkout)} dune-sources`);
  return builtByDune({
    name: "dune's own sources",
    path,
    args: ["--profile", "release", "bin/main.exe"],
    outputs: "bin/main.exe src/dune_engine/.dune_engine.objs/byte/*.cmi",
    commit: async () => {},
  });
}

/** Returns the rules of dune's last build by its log, without the toolchain queries of each start. */
export function executedIn(root: string): number {
  const log = join(root, "_build/log");
  if (!existsSync(log)) return 0;
  const lines = readFileSync(log, "utf8").split("\n");
  return lines.filter((line) => line.startsWith("$ (cd _build")).length;
}
