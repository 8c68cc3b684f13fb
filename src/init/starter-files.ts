import { recognise } from "./recognise.ts";
import { isAction, type RepositoryFiles } from "./repository-files.ts";
import type { NeededTool, StarterJob } from "./starter-job.ts";
import type { LeftOut } from "./workflows/convert-job.ts";
import { convertWorkflows } from "./workflows/convert-workflows.ts";
import { definitionsText } from "./write-definitions.ts";

/** The source of the jobs. `auto`: files, and also workflows, which are switched off if files define jobs. */
export type StarterSource = "auto" | "files" | "workflows";

interface StarterFile {
  readonly path: string;
  readonly text: string;
  readonly jobs: readonly string[];
}

interface StarterSettings {
  readonly source: StarterSource;
  readonly isInstalled: (program: string) => boolean;
  /** Variables that the programs of this machine need to reach the network. */
  readonly networkVariables: Readonly<Record<string, string>>;
}

export interface Starter {
  readonly files: readonly StarterFile[];
  /** The recognised parts, for people. */
  readonly found: readonly string[];
  /** Whether the jobs of workflows run only with the parameter `workflows`. */
  readonly workflowsAreOff: boolean;
  readonly notConverted: readonly LeftOut[];
  readonly notes: readonly string[];
  readonly tools: readonly NeededTool[];
}

const placeholder: StarterJob = { name: "hello", commands: ['echo "Hello from the farm"'] };

/** Returns initial definitions for a repository: a pure function of its files and of the installed tools. */
export function starterFiles(
  repository: RepositoryFiles,
  { source, isInstalled, networkVariables }: StarterSettings,
): Starter {
  const nothing = { found: [], jobs: [], tools: [], notes: [] };
  const projects = source === "workflows" ? nothing : recognise(repository, isInstalled);
  const workflows = convertWorkflows(source === "files" ? new Map() : workflowTexts(repository), {
    actions: new Map([...repository.texts].filter(([path]) => isAction(path))),
    repository: repository.nameOnGitHub,
  });
  const complete = (jobs: readonly StarterJob[]) =>
    withNetworkVariables(withSubmodules(jobs, repository), networkVariables);
  const workflowsAreOff = projects.jobs.length > 0 && workflows.jobs.length > 0;
  const isEmpty = projects.jobs.length === 0 && workflows.jobs.length === 0;
  const own = isEmpty ? [placeholder] : projects.jobs;
  const files = [
    ...(own.length === 0 ? [] : [ownFile(complete(own), projects.found)]),
    ...(workflows.jobs.length === 0
      ? []
      : [workflowFile(complete(workflows.jobs), workflowsAreOff)]),
  ];
  return {
    files,
    found: [...projects.found, ...workflows.found.map((found) => `.github/workflows/${found}`)],
    workflowsAreOff,
    notConverted: workflows.leftOut,
    notes: [
      ...projects.notes,
      ...workflows.notes,
      ...submoduleNotes(repository),
      ...networkNotes(networkVariables),
    ],
    tools: uniqueTools([...projects.tools, ...(workflowsAreOff ? [] : workflows.tools)]),
  };
}

function workflowTexts(repository: RepositoryFiles): Map<string, string> {
  return new Map(
    [...repository.texts]
      .filter(([path]) => path.startsWith(".github/workflows/"))
      .toSorted(([a], [b]) => a.localeCompare(b)),
  );
}

function ownFile(jobs: readonly StarterJob[], found: readonly string[]): StarterFile {
  const from =
    found.length === 0 ? "nothing that is known; put your own commands here" : found.join("; ");
  return {
    path: ".grange/farm.yml",
    jobs: jobs.map(({ name }) => name),
    text: definitionsText({
      heading: [
        `Jobs of this repository, run for every commit. Written by \`grange init\` from: ${from}.`,
        "A job runs again only when a file that it reads has changed: narrow `inputs`.",
      ],
      jobs,
    }),
  };
}

function workflowFile(jobs: readonly StarterJob[], isOff: boolean): StarterFile {
  const when = isOff ? { when: "parameters.workflows" } : {};
  return {
    path: ".grange/workflows.yml",
    jobs: jobs.map(({ name }) => name),
    text: definitionsText({
      heading: [
        "Jobs of .github/workflows, as `grange init` converted them.",
        ...(isOff
          ? [
              "They run with `--param workflows=true`; set the default to true to run them for every commit.",
            ]
          : []),
      ],
      ...(isOff
        ? {
            parameters: {
              workflows: {
                type: "boolean",
                default: false,
                description: "Runs the jobs that come from .github/workflows",
              },
            },
          }
        : {}),
      jobs: jobs.map((job) => ({ ...job, ...when })),
    }),
  };
}

/** Jobs that read all files get the submodules, too: a commit of the farm contains only their names. */
function withSubmodules(
  jobs: readonly StarterJob[],
  { submodules }: RepositoryFiles,
): StarterJob[] {
  return jobs.map((job) =>
    submodules.length === 0 || job.inputs !== undefined ? job : { ...job, sources: submodules },
  );
}

function withNetworkVariables(
  jobs: readonly StarterJob[],
  variables: Readonly<Record<string, string>>,
): StarterJob[] {
  // Files of this machine, such as certificates, do not exist in an image; the address of a proxy holds there too.
  const inImages = Object.fromEntries(
    Object.entries(variables).filter(([, value]) => !value.startsWith("/")),
  );
  return jobs.map((job) => {
    const added = job.image === undefined ? variables : inImages;
    return job.network !== true || Object.keys(added).length === 0
      ? job
      : { ...job, environment: { ...added, ...job.environment } };
  });
}

function networkNotes(variables: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(variables);
  if (names.length === 0) return [];
  return [
    `jobs with network have ${names.join(", ")} as on this machine: other workers must agree`,
  ];
}

function submoduleNotes({ submodules }: RepositoryFiles): string[] {
  if (submodules.length === 0) return [];
  const names = submodules.map(({ path }) => path).join(", ");
  return [
    `submodules are named in \`sources\`, each at its commit of now (${names}): change that when they move`,
  ];
}

function uniqueTools(tools: readonly NeededTool[]): NeededTool[] {
  return [...new Map(tools.map((tool) => [tool.program, tool])).values()];
}
