import { setImmediate } from "node:timers/promises";
import { DefinitionFile } from "./definition-file.ts";
import { definitionLimits } from "./definition-limits.ts";
import { type DefinitionOrigin, originInFile, problemNowhere } from "./definition-origin.ts";
import { type DefinitionProblem, DefinitionProblems, throwIfAny } from "./definition-problems.ts";
import { findingsOf } from "./issue-sentence.ts";
import { readSourceFile, type SourceFile } from "./source-file.ts";
import type { Declared, JobsTemplate, JobTemplate, Templates } from "./templates.ts";

/**
 * Reads files of definitions, all together, without filling placeholders.
 *
 * Throws `DefinitionProblems` with all problems of the first stage that has any. The stages are: syntax, the top level
 * of each file.
 */
export async function readTemplates(files: ReadonlyMap<string, string>): Promise<Templates> {
  const problems: DefinitionProblem[] = [];
  const sources = await readSources(files, problems);
  throwIfAny(problems);
  return templatesIn(sources);
}

/** The same for files that were read before. */
export function templatesIn(sources: readonly SourceFile[]): Templates {
  const problems: DefinitionProblem[] = [];
  const tops = sources.map((source) => ({
    origin: originInFile(source),
    top: readTop(source, problems),
  }));
  throwIfAny(problems);

  const declared = <Declaration>(
    section: "parameters" | "switches" | "graphs",
    what: string,
    of: (top: DefinitionFile) => Readonly<Record<string, Declaration>> | undefined,
  ) => declaredIn(section, what, tops, of, problems);
  const templates: Templates = {
    parameters: declared("parameters", "parameter", (top) => top.parameters),
    switches: declared("switches", "switch", (top) => top.switches),
    graphs: declared("graphs", "graph", (top) => top.graphs),
    ...splitJobs(tops, problems),
  };
  throwIfAny(problems);
  return templates;
}

interface Top {
  readonly origin: DefinitionOrigin;
  readonly top: DefinitionFile | undefined;
}

async function readSources(
  files: ReadonlyMap<string, string>,
  problems: DefinitionProblem[],
): Promise<SourceFile[]> {
  const bytes = [...files.values()].reduce((sum, text) => sum + text.length, 0);
  if (bytes > definitionLimits.allBytes || files.size > definitionLimits.files) {
    const message = "the definitions have more than 40 MiB or 2,000 files in total";
    throw new DefinitionProblems([problemNowhere(message)]);
  }
  const sources: SourceFile[] = [];
  const budget = { bytes: definitionLimits.allWholeYamlBytes };
  for (const [file, text] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    // A file can take some tenths of a second; this lets the farm answer other requests in between.
    await setImmediate();
    const source = readSourceFile(file, text, budget);
    if (Array.isArray(source)) problems.push(...source);
    else {
      checkTop(source);
      sources.push(source);
    }
  }
  return sources;
}

const checkedTops = new WeakMap<SourceFile, ReturnType<typeof DefinitionFile.safeParse>>();

/** Checks the top level of a file, once. Called for each file as it is read, so that a long list is not one long piece of work. */
export function checkTop(source: SourceFile): ReturnType<typeof DefinitionFile.safeParse> {
  const checked = checkedTops.get(source) ?? DefinitionFile.safeParse(source.value ?? {});
  checkedTops.set(source, checked);
  return checked;
}

function readTop(source: SourceFile, problems: DefinitionProblem[]): DefinitionFile | undefined {
  const parsed = checkTop(source);
  if (parsed.success) return parsed.data;
  const origin = originInFile(source);
  for (const issue of parsed.error.issues) {
    problems.push(...findingsOf(issue, keysAt).map((finding) => origin.problem(finding)));
  }
  return undefined;
}

function keysAt(path: readonly PropertyKey[]): readonly string[] {
  switch (path[0]) {
    case undefined:
      return Object.keys(DefinitionFile.shape);
    case "switches":
      return ["default", "description"];
    case "graphs":
      return ["description", "select", "inactive", "parameters", "switches"];
    default:
      return ["type", "default", "description"];
  }
}

function declaredIn<Declaration>(
  section: string,
  what: string,
  tops: readonly Top[],
  of: (top: DefinitionFile) => Readonly<Record<string, Declaration>> | undefined,
  problems: DefinitionProblem[],
): Map<string, Declared<Declaration>> {
  const declared = new Map<string, Declared<Declaration>>();
  for (const { origin, top } of tops) {
    for (const [name, declaration] of Object.entries((top && of(top)) ?? {})) {
      const first = declared.get(name);
      const path = [section, name];
      if (first === undefined) declared.set(name, { declaration, origin });
      else {
        const message = `${what} "${name}" is declared already, in ${first.origin.where(path)}; keep one`;
        problems.push(origin.problem({ path, of: "key", message }));
      }
    }
  }
  return declared;
}

/** Separates jobs that are written directly under their names from those that JSON-e generates. */
function splitJobs(
  tops: readonly Top[],
  problems: DefinitionProblem[],
): { readonly jobs: JobTemplate[]; readonly expressions: JobsTemplate[] } {
  const jobs = new Map<string, JobTemplate>();
  const expressions: JobsTemplate[] = [];
  for (const { origin, top } of tops) {
    const written = top?.jobs ?? {};
    const names = Object.keys(written);
    if (names.some((name) => name.startsWith("$"))) {
      expressions.push({ jobs: written, origin });
      continue;
    }
    for (const name of names) {
      const first = jobs.get(name);
      if (first === undefined) jobs.set(name, { name, job: written[name], origin });
      else problems.push(definedTwice(name, first.origin, origin));
    }
  }
  if (jobs.size > definitionLimits.definitions) {
    const message = "the definitions have more than 50,000 jobs, which is the limit of a catalog";
    throw new DefinitionProblems([problemNowhere(message)]);
  }
  return { jobs: [...jobs.values()], expressions };
}

export function definedTwice(
  name: string,
  first: DefinitionOrigin,
  second: DefinitionOrigin,
): DefinitionProblem {
  const path = ["jobs", name];
  const message = `job "${name}" is defined already, in ${first.where(path)}; rename one of them`;
  return second.problem({ path, of: "key", message });
}
