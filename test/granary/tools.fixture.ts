import { execFileSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { CommitIndexes, type GranaryBuildReport } from "#api/granary.ts";
import { bazelProject, writeFiles } from "../../bench/show/granary/bazel-project.ts";
import type { Granary, GranaryLab } from "../../bench/show/granary/granary-lab.ts";
import { sh } from "../../bench/show/granary/project.ts";
import { processesIn, startupOptions } from "../build-tools/bazel.ts";
import { javaHome } from "../build-tools/bazel-toolchains.ts";
import { bazelWorkspace } from "../build-tools/bazel-workspace.ts";

/** A build gets its granary even on a busy machine: it starts when all results are local. */
export const allAhead = ["--wait-for-prefetch", "20000"];

/** A checkout that Bazel builds, with a separate server for each machine. */
interface BazelCheckout {
  readonly path: string;
  /** Returns the n-th commit: the first exists already, each other changes one leaf. */
  commit(revision: number): Promise<string>;
  machine(granary: Granary, variables?: Readonly<Record<string, string>>): BazelMachine;
  remove(): Promise<void>;
}

interface BazelMachine {
  /**
   * Builds with `grange exec`. `made` counts all actions except Bazel's internal ones, `how` counts
   * them by kind.
   */
  build(
    flags?: readonly string[],
  ): Promise<{ made: number; how: Readonly<Record<string, number>>; product: string }>;
  clean(): void;
  /** Returns the same Bazel without outputs, with another granary: a start of Bazel takes seconds. */
  cleanWith(granary: Granary, variables?: Readonly<Record<string, string>>): BazelMachine;
}

export async function bazelCheckout(lab: GranaryLab, project: string): Promise<BazelCheckout> {
  const root = join(lab.work, `root-${project}`);
  await mkdir(root, { recursive: true });
  const libraries = 4;
  const workspace = await bazelWorkspace(bazelProject(libraries));
  const { path } = workspace;
  const env = { HOME: root, JAVA_HOME: await javaHome() };
  const bases: string[] = [];
  sh(path, "git init -q -b main && echo 'bazel-*' > .gitignore");
  const checkout: BazelCheckout = {
    path,
    async commit(revision) {
      await writeFiles(path, bazelProject(libraries, new Map([[libraries - 1, revision]])));
      return commitAll(path);
    },
    machine(granary, variables = {}) {
      const base = join(root, `base-${bases.length}`);
      bases.push(base);
      return machineAt(base, granary, variables);
    },
    async remove() {
      for (const base of bases) bazel(startupOf(base), "shutdown");
      sh(lab.work, `chmod -R u+w ${root}`);
      await workspace.remove();
    },
  };
  commitAll(path);
  return checkout;

  function machineAt(
    base: string,
    granary: Granary,
    variables: Readonly<Record<string, string>>,
  ): BazelMachine {
    const startup = startupOf(base);
    return {
      async build(flags = []) {
        const command = ["bazel", ...startup, "build", ...flags, "//many:all", "//gen/..."];
        const options = {
          cwd: path,
          env: { ...env, ...variables },
          more: ["--project", project, ...allAhead],
        };
        const { code, text } = await granary.exec(command, options);
        if (code !== 0) throw new Error(`Bazel ended with ${code}:\n${text}`);
        const { internal: _, ...how } = processesIn(text);
        const made = Object.values(how).reduce((sum, count) => sum + count, 0);
        // Not through the link in the workspace, which belongs to the last machine.
        const bin = `cd ${base}/execroot/grange_sample/bazel-out/*-fastbuild/bin`;
        const outputs = "cat many/l*/text.txt many/app gen/*.txt";
        return { made, how, product: sh(path, `${bin}; ${outputs} | sha256sum`) };
      },
      clean: () => bazel(startup, "clean"),
      cleanWith(other, theirs = {}) {
        bazel(startup, "clean");
        return machineAt(base, other, theirs);
      },
    };
  }
  function startupOf(base: string): string[] {
    const own = [`--output_user_root=${root}`, `--output_base=${base}`];
    return [...startupOptions, ...own];
  }
  function bazel(startup: readonly string[], command: string): void {
    const options = { cwd: path, env: { ...process.env, ...env }, stdio: "ignore" } as const;
    execFileSync("bazel", [...startup, command], options);
  }
}

export function commitAll(path: string, ...more: string[]): string {
  const as = "-c user.name=a -c user.email=a@example.org";
  sh(path, `git add -A && git ${as} commit -q --allow-empty -m Change ${more.join(" ")}`);
  return sh(path, "git rev-parse HEAD");
}

/** Entries of a project's indexes by their commit, as the farm lists them. */
export async function indexesOf(
  { farm }: GranaryLab,
  project: string,
): Promise<Record<string, { entries: number; complete: boolean }>> {
  const answer = await fetch(`${farm.url}/api/v1/granary/indexes?project=${project}`);
  const { indexes } = CommitIndexes.parse(await answer.json());
  return Object.fromEntries(
    indexes.map(({ commit, entries, complete }) => [commit, { entries, complete }]),
  );
}

/** Returns the report of a project's newest build at the farm. */
export async function newest(lab: GranaryLab, project: string): Promise<GranaryBuildReport> {
  const [report] = await lab.reports(project);
  if (report === undefined) throw new Error(`the farm has no report of a build of ${project}`);
  return report;
}
