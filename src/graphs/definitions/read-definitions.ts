import { setImmediate } from "node:timers/promises";
import { DefinitionFile } from "./definition-file.ts";
import { definitionLimits } from "./definition-limits.ts";
import { type DefinitionProblem, DefinitionProblems } from "./definition-problems.ts";
import { type Finding, findingsOf } from "./issue-sentence.ts";
import { JobDefinition, jobKeys } from "./job-definition.ts";
import { JobName } from "./job-name.ts";
import { type DeclaredParameter, parameterValues } from "./parameter-values.ts";
import { readSourceFile, type SourceFile } from "./source-file.ts";
import { splitTemplates, type WrittenJob } from "./split-templates.ts";
import type { TemplateEvaluator } from "./template-evaluator.ts";

/** What expressions see beside `parameters`. */
export interface DefinitionContext {
  readonly repository: string;
  readonly commit: {
    readonly sha: string;
    readonly subject: string;
    readonly author: string;
    readonly committedAt: Date;
  };
  /** As the submitter wrote it. */
  readonly rev: string;
  /** The branch that `rev` names; empty when it names none. */
  readonly branch: string;
}

/** A job with its holes filled, and where it was written. */
export interface DefinedJob {
  readonly name: string;
  readonly definition: JobDefinition;
  /** False where its `when` is: it is known, but not in this graph. */
  readonly wanted: boolean;
  /** A problem with the part at `path` of this job, at its place in the file. */
  problemAt(path: readonly PropertyKey[], message: string, of?: "key" | "value"): DefinitionProblem;
}

export interface Definitions {
  readonly jobs: readonly DefinedJob[];
  /** Every declared parameter with the value it has here. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/**
 * Reads the files of `.grange/`, all together, for one commit.
 *
 * Throws `DefinitionProblems` with all that is wrong at the first stage at which
 * something is: syntax, then the top of each file, then templates, then jobs.
 */
export async function readDefinitions(
  files: ReadonlyMap<string, string>,
  given: Readonly<Record<string, unknown>>,
  context: DefinitionContext,
  evaluator: TemplateEvaluator,
): Promise<Definitions> {
  const problems: DefinitionProblem[] = [];
  const sources = await readSources(files, problems);
  const tops = sources.map((source) => ({ source, top: readTop(source, problems) }));
  throwIfAny(problems);

  const parameters = readParameters(tops, given, problems);
  throwIfAny(problems);

  const { commit, ...rest } = context;
  const split = tops.map(({ source, top }) => ({
    file: source.file,
    ...splitTemplates(source.file, top?.jobs ?? {}),
  }));
  const templates = split.flatMap(({ file, templates: jobs }) =>
    jobs === undefined ? [] : [{ file, jobs }],
  );
  const evaluated =
    templates.length === 0
      ? { jobs: [], problems: [] }
      : await evaluator.evaluate({
          files: templates,
          context: {
            ...rest,
            parameters,
            commit: { sha: commit.sha, subject: commit.subject, author: commit.author },
            // Without it, a template would see the wall clock, and no two plans of a commit were the same.
            now: commit.committedAt.toISOString(),
          },
        });
  const written = [...split.flatMap(({ plain }) => plain), ...evaluated.jobs];
  const sourceOf = new Map(sources.map((source) => [source.file, source]));
  for (const { file, path, message } of evaluated.problems) {
    problems.push(
      problemIn(sourceOf.get(file), { path, of: "value", message: templateAdvice(message) }),
    );
  }
  if (written.length > definitionLimits.jobs) throw tooManyJobs();
  const jobs = readJobs(written, sourceOf, problems);
  throwIfAny(problems);
  return { jobs, parameters };
}

function tooManyJobs(): DefinitionProblems {
  const message = "the definitions have more than 20,000 jobs, the most that a graph can have";
  return new DefinitionProblems([{ file: ".grange", line: null, column: null, message }]);
}

async function readSources(
  files: ReadonlyMap<string, string>,
  problems: DefinitionProblem[],
): Promise<SourceFile[]> {
  const bytes = [...files.values()].reduce((sum, text) => sum + text.length, 0);
  if (bytes > definitionLimits.allBytes || files.size > definitionLimits.files) {
    throw new DefinitionProblems([
      {
        file: ".grange",
        line: null,
        column: null,
        message: "the definitions are more than 10 MiB or 1,000 files together",
      },
    ]);
  }
  const sources: SourceFile[] = [];
  for (const [file, text] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    // A file of the largest size takes most of a second; the farm answers others in between.
    await setImmediate();
    const source = readSourceFile(file, text);
    if (Array.isArray(source)) problems.push(...source);
    else sources.push(source);
  }
  return sources;
}

function readTop(source: SourceFile, problems: DefinitionProblem[]): DefinitionFile | undefined {
  const parsed = DefinitionFile.safeParse(source.value ?? {});
  if (parsed.success) return parsed.data;
  const keysAt = (path: readonly PropertyKey[]) =>
    path.length === 0 ? Object.keys(DefinitionFile.shape) : ["type", "default", "description"];
  for (const issue of parsed.error.issues) {
    problems.push(...findingsOf(issue, keysAt).map((finding) => problemIn(source, finding)));
  }
  return undefined;
}

function readParameters(
  tops: readonly { readonly source: SourceFile; readonly top: DefinitionFile | undefined }[],
  given: Readonly<Record<string, unknown>>,
  problems: DefinitionProblem[],
): Record<string, unknown> {
  const declared = new Map<string, DeclaredParameter & { source: SourceFile }>();
  for (const { source, top } of tops) {
    for (const [name, declaration] of Object.entries(top?.parameters ?? {})) {
      const first = declared.get(name);
      if (first === undefined) {
        declared.set(name, { file: source.file, declaration, source });
        continue;
      }
      const message = `parameter "${name}" is declared already, in ${placeIn(first.source, ["parameters", name])}; keep one`;
      problems.push(problemIn(source, { path: ["parameters", name], of: "key", message }));
    }
  }
  const { values, problems: wrong } = parameterValues(declared, given);
  for (const { name, declaredIn, message } of wrong) {
    const source = declaredIn === undefined ? undefined : declared.get(name)?.source;
    problems.push(problemIn(source, { path: ["parameters", name], of: "key", message }));
  }
  return values;
}

function readJobs(
  written: readonly WrittenJob[],
  sourceOf: ReadonlyMap<string, SourceFile>,
  problems: DefinitionProblem[],
): DefinedJob[] {
  const jobs = new Map<string, DefinedJob & { source: SourceFile | undefined }>();
  for (const { file, name, job } of written) {
    const source = sourceOf.get(file);
    const problemAt = (
      path: readonly PropertyKey[],
      message: string,
      of: "key" | "value" = "value",
    ) => problemIn(source, { path: ["jobs", name, ...path], of, message });
    const checkedName = JobName.safeParse(name);
    if (!checkedName.success)
      problems.push(problemAt([], checkedName.error.issues[0]?.message ?? "not a name", "key"));
    const first = jobs.get(name);
    if (first !== undefined) {
      problems.push(
        problemAt(
          [],
          `job "${name}" is defined already, in ${placeIn(first.source, ["jobs", name])}; rename one of them`,
          "key",
        ),
      );
    }
    const parsed = JobDefinition.safeParse(job);
    if (!parsed.success) {
      for (const issue of parsed.error.issues) {
        problems.push(
          ...findingsOf(issue, keysOfJobPart).map((one) =>
            problemAt(one.path, `job "${name}": ${one.message}`, one.of),
          ),
        );
      }
      continue;
    }
    const { when, ...definition } = parsed.data;
    if (first === undefined)
      jobs.set(name, { name, definition, wanted: when !== false, problemAt, source });
  }
  return [...jobs.values()];
}

function keysOfJobPart(path: readonly PropertyKey[]): readonly string[] {
  switch (path[0]) {
    case undefined:
      return jobKeys;
    case "limits":
      return ["cpus", "memory"];
    case "success":
      return ["exit-codes"];
    case "needs":
      return ["outputs", "at", "on", "optional"];
    default:
      return [];
  }
}

/** json-e's words are for its authors; the mistakes that everybody makes get an answer. */
function templateAdvice(message: string): string {
  const unknown = /unknown context value (\S+)/.exec(message)?.[1];
  if (unknown !== undefined) {
    return `template: there is no value "${unknown}" here (there are parameters, repository, commit, branch, rev); for a variable of the shell write $${unknown} or $\${...} with two dollar signs`;
  }
  const beside = /(\$[a-z]+)\S* has undefined properties: (\S+)/i.exec(message);
  if (beside !== null) {
    const [, construct, key] = beside;
    const way =
      construct === "$merge" ? "into a map of its list" : "away, and join the two with $merge";
    return `template: "${key}" cannot stand beside ${construct}; move it ${way}`;
  }
  return `template: ${message}`;
}

function problemIn(
  source: SourceFile | undefined,
  { path, of, message }: Finding,
): DefinitionProblem {
  if (source === undefined) return { file: ".grange", line: null, column: null, message };
  return { file: source.file, ...source.place(path, of), message };
}

function placeIn(source: SourceFile | undefined, path: readonly PropertyKey[]): string {
  if (source === undefined) return ".grange";
  return `${source.file}:${source.place(path, "key").line}`;
}

function throwIfAny(problems: readonly DefinitionProblem[]): void {
  if (problems.length === 0) return;
  const shown = problems.slice(0, definitionLimits.problems);
  throw new DefinitionProblems(shown);
}
