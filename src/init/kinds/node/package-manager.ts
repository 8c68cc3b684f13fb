import type { ProjectFiles } from "../../repository-files.ts";
import type { StarterJob } from "../../starter-job.ts";
import type { PackageJson } from "./package-json.ts";

/** How a package manager installs and runs scripts. */
export interface PackageManager {
  readonly name: string;
  /** The file that identified it, for people. */
  readonly found: string;
  /** Absent when there is nothing to install. */
  readonly install?: StarterJob;
  /** Commands that a job runs before it can call the package manager. */
  readonly prepare: readonly string[];
  /** The command that runs a script of the top package. */
  run(script: string): string;
  /** The command that runs a script in each package of the workspace that has it. */
  runInAll(script: string): string;
  readonly notes: readonly string[];
}

/** The data from which a package manager is chosen. */
export interface NodeProject {
  readonly files: ProjectFiles;
  readonly manifest: PackageJson;
  /** Packages of the workspace besides the top one, by directory. */
  readonly members: ReadonlyMap<string, PackageJson>;
}

export const installComment =
  "Runs again only when these files change. The other jobs take the installed packages from it.";

/** The directory in which a job installs the package manager itself, which may not be a part of Node. */
export const toolsDirectory = ".grange-tools";

/** The archive with which the installed packages of a workspace are passed to other jobs. */
const archive = ".grange-modules.tar";

interface HandedModules {
  /** Commands at the end of the installation. */
  readonly pack: readonly string[];
  /** Commands at the beginning of a job that uses the installation. */
  readonly unpack: readonly string[];
  readonly outputs: readonly string[];
}

/**
 * Returns how jobs get the directories of installed packages.
 *
 * The packages of a workspace are links out of node_modules (`node_modules/text -> ../packages/text`). An output
 * directory must not contain such links, because it can be placed anywhere; an archive can.
 */
export function handModules(project: NodeProject, directories: readonly string[]): HandedModules {
  if (project.members.size === 0) return { pack: [], unpack: [], outputs: directories };
  return {
    pack: [`mkdir -p ${directories.join(" ")}`, `tar -cf ${archive} ${directories.join(" ")}`],
    unpack: [`tar -xf ${archive}`],
    outputs: [archive],
  };
}

/** The package.json of the top package and of all others of the workspace. */
export function manifestsOf(project: NodeProject): string[] {
  return ["package.json", ...[...project.members.keys()].map((member) => `${member}/package.json`)];
}
