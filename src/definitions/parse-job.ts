import { Chunks } from "./chunk-keys.ts";
import { Dummy } from "./dummy-keys.ts";
import { type Finding, findingsOf } from "./issue-sentence.ts";
import { JobDefinition, jobKeys } from "./job-definition.ts";
import { JobName } from "./job-name.ts";

/** A job without placeholders, and whether it is in the graph; or its problems. */
export type ParsedJob =
  | { readonly definition: JobDefinition; readonly wanted: boolean }
  | { readonly findings: readonly Finding[] };

/** Checks a job without unfilled placeholders. Paths of findings are relative to the job. */
export function parseJob(name: string, job: unknown): ParsedJob {
  const findings: Finding[] = [];
  const checkedName = JobName.safeParse(name);
  if (!checkedName.success) {
    const message = checkedName.error.issues[0]?.message ?? "not a name";
    findings.push({ path: [], of: "key", message });
  }
  const parsed = JobDefinition.safeParse(job);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      findings.push(
        ...findingsOf(issue, keysOfJobPart).map((one) => ({
          ...one,
          message: `job "${name}": ${one.message}`,
        })),
      );
    }
    return { findings };
  }
  if (findings.length > 0) return { findings };
  const { when, ...definition } = parsed.data;
  return { definition, wanted: when !== false };
}

function keysOfJobPart(path: readonly PropertyKey[]): readonly string[] {
  switch (path[0]) {
    case undefined:
      return jobKeys;
    case "limits":
      return ["cpus", "memory", "outputs"];
    case "success":
      return path.length > 1
        ? ["pattern", "min", "max", "optional"]
        : ["exit-codes", "patterns", "numbers"];
    case "failure":
      return ["patterns", "exit-codes", "outcomes", "fails", "retry"];
    case "sources":
      return ["repository", "rev", "commit", "at", "inputs"];
    case "inputs-from":
      return ["job", "output"];
    case "needs":
      return ["outputs", "at", "on", "optional"];
    case "dummy":
      return Object.keys(Dummy.shape);
    case "chunks":
      return path.length > 1 ? ["job", "output"] : Object.keys(Chunks.shape);
    default:
      return [];
  }
}
