import type { Kind, RecognisedProject } from "./kind.ts";
import { bazel } from "./kinds/bazel.ts";
import { cargo } from "./kinds/cargo.ts";
import { cmake } from "./kinds/cmake.ts";
import { dune } from "./kinds/dune.ts";
import { go } from "./kinds/go.ts";
import { gradle } from "./kinds/gradle.ts";
import { make } from "./kinds/make.ts";
import { maven } from "./kinds/maven.ts";
import { node } from "./kinds/node/node.ts";
import { python } from "./kinds/python/python.ts";
import { baseName, directoryOf, ProjectFiles, type RepositoryFiles } from "./repository-files.ts";
import type { NeededTool, StarterJob } from "./starter-job.ts";

/** All kinds, in the order of their jobs. In a group, the first one with installed tools is used. */
const kinds: readonly Kind[] = [node, cargo, go, python, dune, bazel, cmake, maven, gradle, make];

interface Recognised {
  /** For people, one for each project: `web: package.json with lint, test (package-lock.json)`. */
  readonly found: readonly string[];
  readonly jobs: readonly StarterJob[];
  readonly tools: readonly NeededTool[];
  readonly notes: readonly string[];
}

/** Directories with sources of other projects, or with projects that only tests read. */
const passedOver =
  /^(\..*|node_modules|vendor|vendored|third[-_]?party|extern(al)?|deps|examples?|samples?|demos?|fixtures?|testdata|tests?|spec|__tests__|benchmarks?|bench|fuzz|docs?|templates?|e2e|target|build|dist)$/i;

const deepest = 3;

/** Finds the projects of a repository, and the jobs that build and test them. */
export function recognise(
  repository: RepositoryFiles,
  isInstalled: (program: string) => boolean,
): Recognised {
  const projects = kinds.flatMap((kind) =>
    rootsOf(repository, kind).flatMap((directory) => {
      const recognised = kind.recognise(new ProjectFiles(repository, directory));
      return recognised === undefined ? [] : [{ kind, directory, recognised }];
    }),
  );
  const { taken, notes } = withoutAlternatives(projects, isInstalled);
  const placed = taken
    .toSorted((a, b) => Number(a.directory !== "") - Number(b.directory !== ""))
    .map(({ directory, recognised }) => ({
      directory,
      recognised,
      jobs: placeJobs(directory, recognised.jobs),
    }));
  const names = new Set<string>();
  return {
    found: placed.map(({ directory, recognised }) =>
      directory === "" ? recognised.found : `${directory}: ${recognised.found}`,
    ),
    jobs: placed
      .flatMap(({ jobs }) => jobs)
      .filter(({ name }) => !names.has(name) && names.add(name)),
    tools: uniqueTools(taken.flatMap(({ recognised }) => recognised.tools)),
    notes: [
      ...notes,
      ...placed.flatMap(({ directory, recognised }) =>
        (recognised.notes ?? []).map((note) => (directory === "" ? note : `${directory}: ${note}`)),
      ),
    ],
  };
}

interface Project {
  readonly kind: Kind;
  readonly directory: string;
  readonly recognised: RecognisedProject;
}

/** Returns directories with a mark of the kind that do not belong to a project of the same kind above them. */
function rootsOf(repository: RepositoryFiles, kind: Kind): string[] {
  const marked = new Set(
    repository.paths.filter((path) => kind.mark.test(baseName(path))).map(directoryOf),
  );
  return [...marked]
    .filter((directory) => {
      const names = directory === "" ? [] : directory.split("/");
      if (names.length > deepest || names.some((name) => passedOver.test(name))) return false;
      const above = names
        .map((_, count) => names.slice(0, count).join("/"))
        .filter((each) => marked.has(each));
      if (above.length === 0) return true;
      return (
        kind.standsAlone?.(new ProjectFiles(repository, directory)) === true &&
        !isMember(repository, above)
      );
    })
    .toSorted();
}

/** Whether a directory above is a workspace that includes this one. */
function isMember(repository: RepositoryFiles, above: readonly string[]): boolean {
  return above.some((directory) =>
    repository.paths.includes(directory === "" ? "go.work" : `${directory}/go.work`),
  );
}

/** Leaves out kinds that another kind of the same directory makes unnecessary. */
function withoutAlternatives(
  projects: readonly Project[],
  isInstalled: (program: string) => boolean,
): { taken: Project[]; notes: string[] } {
  const notes: string[] = [];
  const taken = projects.filter((project) => {
    const others = projects.filter(
      (other) => other !== project && other.directory === project.directory,
    );
    const better = others.find((other) => isBetter(other, project, isInstalled));
    if (better === undefined) return true;
    notes.push(
      `${project.recognised.found} was left out, since ${better.recognised.found} describes the same files`,
    );
    return false;
  });
  return { taken, notes };
}

function isBetter(
  other: Project,
  project: Project,
  isInstalled: (program: string) => boolean,
): boolean {
  if (project.kind.yields === true)
    return other.kind.yields !== true && other.recognised.jobs.length > 0;
  if (project.kind.group === undefined || other.kind.group !== project.kind.group) return false;
  if (other.kind.yields === true) return false;
  const hasTools = ({ recognised }: Project) =>
    recognised.tools.every(({ program }) => isInstalled(program));
  const [here, there] = [hasTools(project), hasTools(other)];
  return here === there ? kinds.indexOf(other.kind) < kinds.indexOf(project.kind) : there;
}

/** Moves the jobs of a project below the top into its directory. */
function placeJobs(directory: string, jobs: readonly StarterJob[]): StarterJob[] {
  if (directory === "") return [...jobs];
  const group = directory.replace(/[^A-Za-z0-9._/-]/g, "-");
  const at = (path: string) => `${directory}/${path}`;
  return jobs.map((job) => ({
    ...job,
    name: `${group}/${job.name}`,
    workingDirectory: directory,
    ...(job.inputs === undefined ? {} : { inputs: job.inputs.map(at) }),
    ...(job.outputs === undefined ? {} : { outputs: job.outputs.map(at) }),
    ...(job.needs === undefined ? {} : { needs: job.needs.map((name) => `${group}/${name}`) }),
  }));
}

function uniqueTools(tools: readonly NeededTool[]): NeededTool[] {
  return [...new Map(tools.map((tool) => [tool.program, tool])).values()];
}
