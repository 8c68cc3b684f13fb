import { type Definitions, readDefinitions } from "./read-definitions.ts";
import type { TemplateEvaluator } from "./template-evaluator.ts";

/** Reads one file of definitions as if it were in a commit of a repository. */
export function definitionsFrom(
  evaluator: TemplateEvaluator,
  text: string,
  given: Record<string, unknown> = {},
): Promise<Definitions> {
  const commit = {
    sha: "a".repeat(40),
    subject: "Begin",
    author: "Ada",
    committedAt: new Date("2024-01-02T03:04:05Z"),
  };
  const context = { repository: "here", commit, rev: "main", branch: "main" };
  return readDefinitions(new Map([["jobs.yml", text]]), given, context, evaluator);
}
