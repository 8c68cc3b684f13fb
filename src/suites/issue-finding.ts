import type { z } from "zod";
import type { Finding } from "./suite-problems.ts";

/** Converts a schema's issue into a finding in the terms of the definition. */
export function findingsOf(issue: z.core.$ZodIssue): Finding[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      path: [...issue.path, key],
      of: "key",
      message: "no such key is known here; docs/benchmarks.md has them all",
    }));
  }
  if (issue.code === "invalid_key")
    return [{ path: issue.path, of: "key", message: issue.issues[0]?.message ?? issue.message }];
  if (issue.code === "invalid_union") {
    // Reports the problems of the form with the best match.
    const [nearest] = issue.errors.toSorted((a, b) => weight(a) - weight(b));
    if (nearest !== undefined && nearest.length > 0)
      return nearest.flatMap((inner) =>
        findingsOf({ ...inner, path: [...issue.path, ...inner.path] }),
      );
  }
  const missing = issue.code === "invalid_type" && issue.input === undefined;
  return [
    {
      path: issue.path,
      of: "value",
      message: missing ? `is missing; ${issue.message}` : issue.message,
    },
  ];
}

function weight(issues: readonly z.core.$ZodIssue[]): number {
  return issues.reduce(
    (sum, issue) => sum + (issue.code === "unrecognized_keys" ? issue.keys.length : 1),
    0,
  );
}
