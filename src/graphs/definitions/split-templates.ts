/** A job as it was written, or as its template became. */
export interface WrittenJob {
  readonly file: string;
  readonly name: string;
  readonly job: unknown;
}

/** The jobs of a file that say all themselves, and what is left to be filled. */
export interface SplitJobs {
  readonly plain: readonly WrittenJob[];
  /** Undefined when nothing is left. */
  readonly templates: unknown;
}

/**
 * Keeps jobs without holes from the evaluator: it would answer what it was given.
 *
 * JSON-e acts on keys and texts with a dollar sign alone; most jobs have none.
 */
export function splitTemplates(file: string, jobs: unknown): SplitJobs {
  if (typeof jobs !== "object" || jobs === null || Array.isArray(jobs))
    return { plain: [], templates: jobs };
  const entries = Object.entries(jobs);
  if (entries.some(([name]) => name.startsWith("$"))) return { plain: [], templates: jobs };
  const plain: WrittenJob[] = [];
  const templates: [string, unknown][] = [];
  for (const [name, job] of entries) {
    if (hasHole(name) || hasHole(job) || hasCondition(job)) templates.push([name, job]);
    else plain.push({ file, name, job });
  }
  return { plain, templates: templates.length === 0 ? undefined : Object.fromEntries(templates) };
}

function hasCondition(job: unknown): boolean {
  return typeof job === "object" && job !== null && "when" in job && typeof job.when === "string";
}

function hasHole(value: unknown): boolean {
  if (typeof value === "string") return value.includes("$");
  if (Array.isArray(value)) return value.some(hasHole);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, part]) => key.includes("$") || hasHole(part));
}
