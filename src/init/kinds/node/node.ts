import { compileGlobs } from "#git/glob.ts";
import type { Kind } from "../../kind.ts";
import { directoryOf, type ProjectFiles } from "../../repository-files.ts";
import type { StarterJob } from "../../starter-job.ts";
import { npm } from "./npm.ts";
import {
  entryFiles,
  installsMore,
  type PackageJson,
  preparesSources,
  readPackageJson,
} from "./package-json.ts";
import type { NodeProject, PackageManager } from "./package-manager.ts";
import { pnpm } from "./pnpm.ts";
import { yarn } from "./yarn.ts";

const lockFiles = ["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock"];

/** The scripts that become jobs, by their usual names. */
const meant = [
  ["lint"],
  ["typecheck", "type-check", "check-types", "types"],
  ["test"],
  ["build"],
] as const;

/** Packages of Node, and workspaces of them, with npm, pnpm or Yarn. */
export const node: Kind = {
  name: "node",
  mark: /^package\.json$/,
  standsAlone: (project) => lockFiles.some((name) => project.has(name)),
  recognise(files) {
    const manifest = readPackageJson(files.text("package.json"));
    if (manifest === undefined) return undefined;
    const project: NodeProject = { files, manifest, members: membersOf(files, manifest) };
    const manager = managerOf(project);
    const chosen = chosenScripts(project);
    const bun = files.has("bun.lock") || files.has("bun.lockb");
    const many =
      project.members.size === 0 ? "" : `, a workspace of ${project.members.size} packages`;
    const scripts = chosen.map(({ script }) => script).join(", ");
    return {
      found: `package.json${scripts === "" ? "" : ` with ${scripts}`} (${manager.found}${many})`,
      jobs: [
        ...(manager.install === undefined ? [] : [manager.install]),
        ...chosen.map((each) => scriptJob(project, manager, each)),
      ],
      tools: [
        { program: "node", package: "nodejs" },
        { program: "npm", package: "npm" },
      ],
      notes: [
        ...manager.notes,
        ...(bun && manager.name === "npm"
          ? ["bun's lock file is not read; the packages are installed by npm"]
          : []),
        ...(checksFormat(project)
          ? [
              "a script checks the format by Prettier: before the commit, npx prettier --write .grange",
            ]
          : []),
      ],
    };
  },
};

function managerOf(project: NodeProject): PackageManager {
  const { files, manifest } = project;
  const named = /^(npm|pnpm|yarn)@/.exec(manifest.packageManager ?? "")?.[1];
  if (files.has("pnpm-lock.yaml") && named !== "npm" && named !== "yarn") return pnpm(project);
  if (files.has("yarn.lock") && named !== "npm") return yarn(project);
  return npm(project);
}

/** Returns the packages that `workspaces` or pnpm-workspace.yaml names. */
function membersOf(files: ProjectFiles, manifest: PackageJson): Map<string, PackageJson> {
  const patterns = manifest.workspaces ?? pnpmPatterns(files.text("pnpm-workspace.yaml"));
  if (patterns.length === 0) return new Map();
  const matches = matcher(patterns);
  return new Map(
    files
      .named("package.json")
      .map(directoryOf)
      .filter((directory) => directory !== "" && matches(directory))
      .flatMap((directory) => {
        const member = readPackageJson(files.text(`${directory}/package.json`));
        return member === undefined ? [] : [[directory, member] as const];
      }),
  );
}

function matcher(patterns: readonly string[]): (directory: string) => boolean {
  try {
    const matches = compileGlobs(patterns.map((pattern) => pattern.replace(/\/$/, "")));
    return (directory) => matches(directory);
  } catch {
    return () => false;
  }
}

function pnpmPatterns(text: string | undefined): string[] {
  const section = /^packages:\s*\n((?:[ \t]*-.*\n?|[ \t]*#.*\n?|\n)*)/m.exec(text ?? "")?.[1] ?? "";
  return [...section.matchAll(/^[ \t]*-\s*['"]?([^'"\n#]+?)['"]?\s*(?:#.*)?$/gm)].map(
    (match) => match[1] ?? "",
  );
}

interface ChosenScript {
  readonly job: string;
  readonly script: string;
  /** Whether only the packages of the workspace have the script, not the top package. */
  readonly inAll: boolean;
}

function chosenScripts({ manifest, members }: NodeProject): ChosenScript[] {
  return meant.flatMap((names): ChosenScript[] => {
    const script = names.find((name) => isMeant(manifest.scripts[name]));
    if (script !== undefined) return [{ job: names[0], script, inAll: false }];
    const shared = names.find((name) =>
      [...members.values()].some((each) => isMeant(each.scripts[name])),
    );
    return shared === undefined ? [] : [{ job: names[0], script: shared, inAll: true }];
  });
}

/** Whether a script fails when a YAML file at any place does not have Prettier's format, which depends on its settings. */
function checksFormat({ manifest }: NodeProject): boolean {
  return Object.values(manifest.scripts).some((script) => {
    const words = /\bprettier\s([^&|;]*)/.exec(script)?.[1]?.split(/\s+/) ?? [];
    return (
      words.some((word) => ["--check", "-c", "--list-different", "-l"].includes(word)) &&
      words.some((word) => word === "." || /\*\*\/\*["']?$|ya?ml/.test(word))
    );
  });
}

/** `npm init` writes a script for tests that only fails. */
function isMeant(script: string | undefined): boolean {
  return script !== undefined && !script.includes("no test specified");
}

function scriptJob(
  project: NodeProject,
  manager: PackageManager,
  chosen: ChosenScript,
): StarterJob {
  const { job, script, inAll } = chosen;
  const run = (name: string, all: boolean) => (all ? manager.runInAll(name) : manager.run(name));
  const builds = script !== "build" ? buildBefore(project, job) : undefined;
  const installs = installsMore(project.manifest);
  const comments = [
    ...(builds === undefined ? [] : ["Builds first, since it uses what the build makes."]),
    ...(installs ? ["Needs the network, since `postinstall` installs further packages."] : []),
  ];
  return {
    name: job,
    ...(comments.length === 0 ? {} : { comment: comments.join(" ") }),
    ...(installs ? { network: true } : {}),
    commands: [
      ...manager.prepare,
      ...(preparesSources(project.manifest) ? [manager.run("postinstall")] : []),
      ...(builds === undefined ? [] : [run("build", builds.inAll)]),
      run(script, inAll),
    ],
    ...(manager.install === undefined ? {} : { needs: [manager.install.name] }),
    // Without this, test runners watch for changes and wait for keys.
    environment: { CI: "true" },
  };
}

/**
 * Returns the build that a job needs first, because packages have built entry files or a script names a built
 * directory.
 */
function buildBefore(project: NodeProject, job: string): ChosenScript | undefined {
  const { files, manifest, members } = project;
  const build = chosenScripts(project).find((each) => each.job === "build");
  if (build === undefined || job === "lint") return undefined;
  const built = [...members].some(([directory, member]) =>
    entryFiles(member).some((path) => isBuilt(files, `${directory}/${path}`)),
  );
  if (built) return build;
  const script = manifest.scripts[job] ?? "";
  if (/\bbuild\b/.test(script) && /\brun\b/.test(script)) return undefined;
  const namesBuilt = /\b(dist|lib|build|out)\//.exec(script)?.[1];
  const isMissing = namesBuilt !== undefined && !files.hasDirectory(namesBuilt);
  const importsItself = job === "test" && entryFiles(manifest).some((path) => isBuilt(files, path));
  return isMissing || importsItself ? build : undefined;
}

/** Whether package.json names a file that is not in the commit. Patterns and directories are not checked. */
function isBuilt(files: ProjectFiles, path: string): boolean {
  if (path.includes("*") || !/\.[cm]?[jt]sx?$/.test(path)) return false;
  return !files.has(path);
}
