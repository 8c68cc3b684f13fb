import type { Submodule } from "./starter-job.ts";

/** The files of a repository for `grange init`: their paths, and the contents of those that describe a build. */
export interface RepositoryFiles {
  /** Relative to the repository, with `/` between names. */
  readonly paths: readonly string[];
  /** Contents by path, of files for which `describesBuild` holds. */
  readonly texts: ReadonlyMap<string, string>;
  readonly submodules: readonly Submodule[];
  /** The version of the newest tag that looks like one: `1.4.0`. */
  readonly version?: string | undefined;
  /** Its name on GitHub, `owner/name`, if the address of its remote `origin` names it. */
  readonly nameOnGitHub?: string | undefined;
}

/** The files below one directory of a repository. */
export class ProjectFiles {
  /** Relative to the project's directory. */
  readonly paths: ReadonlySet<string>;
  readonly version: string | undefined;
  readonly #texts: ReadonlyMap<string, string>;
  readonly #prefix: string;

  constructor(repository: RepositoryFiles, directory: string) {
    const prefix = directory === "" ? "" : `${directory}/`;
    this.#prefix = prefix;
    this.#texts = repository.texts;
    this.version = repository.version;
    this.paths = new Set(
      repository.paths
        .filter((path) => path.startsWith(prefix))
        .map((path) => path.slice(prefix.length)),
    );
  }

  has(path: string): boolean {
    return this.paths.has(path);
  }

  /** Whether the directory has a file somewhere below it. */
  hasDirectory(directory: string): boolean {
    return this.some((path) => path.startsWith(`${directory}/`));
  }

  /** The content of a file that describes a build; undefined for any other. */
  text(path: string): string | undefined {
    return this.has(path) ? this.#texts.get(this.#prefix + path) : undefined;
  }

  some(holds: (path: string) => boolean): boolean {
    for (const path of this.paths) if (holds(path)) return true;
    return false;
  }

  /** Returns those of the given paths that exist. */
  existing(...paths: readonly string[]): string[] {
    return paths.filter((path) => this.has(path));
  }

  /** Paths of the files with this name, in any directory. */
  named(name: string): string[] {
    return [...this.paths].filter((path) => baseName(path) === name);
  }
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export function directoryOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
}

const describing = [
  /^package\.json$/,
  /^(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|pnpm-workspace\.yaml|yarn\.lock|\.yarnrc\.yml)$/,
  /^(Cargo\.toml|go\.mod|go\.work)$/,
  /^(CMakeLists\.txt|.+\.cmake)$/,
  /^(GNUmakefile|[Mm]akefile)$/,
  /^(pom\.xml|(build|settings)\.gradle(\.kts)?|gradle-wrapper\.properties)$/,
  /^(\.bazelversion|WORKSPACE|WORKSPACE\.bazel|MODULE\.bazel|dune-project|dune-workspace)$/,
  /^(pyproject\.toml|setup\.cfg|setup\.py|tox\.ini|pytest\.ini|requirements.*\.txt|.*requirements\.txt)$/,
];

/** Whether a file describes an action for workflows. */
export function isAction(path: string): boolean {
  return /^action\.ya?ml$/.test(baseName(path));
}

/** Whether the content of a file determines how its repository is built. */
export function describesBuild(path: string): boolean {
  if (/^\.github\/workflows\/[^/]+\.ya?ml$/.test(path)) return true;
  if (isAction(path)) return true;
  const name = baseName(path);
  return describing.some((pattern) => pattern.test(name));
}
