import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { SwitchValues } from "#api/graph-choice.ts";
import { Fault } from "#core/fault.ts";
import type { DefinitionContext } from "#definitions/definition-context.ts";
import { fillTemplates } from "#definitions/fill-templates.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { suggestion } from "#definitions/nearest-name.ts";
import { readTemplates } from "#definitions/read-templates.ts";
import { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import type { Git } from "#git/run-git.ts";
import { type PlannedEdge, plan } from "#graphs/plan.ts";

/** The values of a submission for templates. */
export interface GivenValues {
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly switches: SwitchValues;
  readonly graph?: string | undefined;
}

/** The jobs that the definitions of a checkout create for it. */
export interface WorkingJobs {
  readonly jobs: ReadonlyMap<string, JobDefinition>;
  readonly edges: readonly PlannedEdge[];
  /** The names of defined jobs whose `when` is false for this checkout. */
  readonly unwanted: readonly string[];
}

const folder = ".grange";

/** Reads the present definitions of a checkout, by their paths from its top. */
export async function readWorkingDefinitions(root: string): Promise<Map<string, string>> {
  const files = await readdir(join(root, folder)).catch((): string[] => []);
  const names = files.filter((name) => /\.ya?ml$/.test(name));
  if (names.length === 0 && files.includes("source")) {
    const message = `the definitions of ${root} are another repository's, as ${folder}/source says: without a farm they cannot be used. Submit a commit`;
    throw new Fault("failed_precondition", message);
  }
  if (names.length === 0) {
    const message = `there are no definitions in ${join(root, folder)}; "grange init" writes first ones`;
    throw new Fault("failed_precondition", message);
  }
  const texts = names.map(
    async (name): Promise<[string, string]> => [
      `${folder}/${name}`,
      await readFile(join(root, folder, name), "utf8"),
    ],
  );
  return new Map(await Promise.all(texts));
}

/** Fills the templates of definitions like a submission of the checked-out commit. Throws `DefinitionProblems`. */
export async function planWorkingJobs(
  files: ReadonlyMap<string, string>,
  given: GivenValues,
  context: DefinitionContext,
): Promise<WorkingJobs> {
  const evaluator = new TemplateEvaluator();
  try {
    const templates = await readTemplates(files);
    const definitions = await fillTemplates(templates, given, context, evaluator);
    const { catalog, edges } = await plan(definitions);
    const jobs = new Map(catalog.entries.map(({ name, definition }) => [name, definition]));
    const unwanted = definitions.jobs.map(({ name }) => name).filter((name) => !jobs.has(name));
    return { jobs, edges, unwanted };
  } finally {
    await evaluator.stop();
  }
}

/** Returns the definition of a job. Throws `not_found` when the graph has no job of that name. */
export function jobNamed({ jobs, unwanted }: WorkingJobs, name: string): JobDefinition {
  const found = jobs.get(name);
  if (found !== undefined) return found;
  if (unwanted.includes(name)) {
    const message = `job "${name}" is not in the graph of this checkout: its \`when\`, or that of a job that it needs, is false`;
    throw new Fault("failed_precondition", message);
  }
  const hint = suggestion(name, jobs.keys()) || `; there are ${[...jobs.keys()].join(", ")}`;
  throw new Fault("not_found", `there is no job "${name}"${hint}`);
}

/** Returns the checked-out commit, with the values for templates. */
export async function contextOfCheckout(git: Git, root: string): Promise<DefinitionContext> {
  const read = async (...args: string[]) => {
    const { exitCode, stdout } = await git.run(args, { directory: root });
    return exitCode === 0 ? stdout.toString("utf8").trim() : undefined;
  };
  const shown = await read("show", "--no-patch", "--format=%H%n%s%n%an%n%cI", "HEAD");
  const [sha = "0".repeat(40), subject = "", author = "", date] = shown?.split("\n") ?? [];
  const branch = (await read("symbolic-ref", "--quiet", "--short", "HEAD")) ?? "";
  const committedAt = new Date(date ?? 0);
  return {
    repository: root,
    branch,
    rev: "HEAD",
    commit: { sha, subject, author, committedAt },
  };
}
