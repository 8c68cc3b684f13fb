import type { z } from "zod";
import { suggestion } from "./nearest-name.ts";

/** A problem that a schema found: the affected part and a sentence for people. */
export interface Finding {
  readonly path: readonly PropertyKey[];
  readonly of: "key" | "value";
  readonly message: string;
}

/** Returns the issues of a schema in the words of the file; `knownKeys` are the keys that the map could have had. */
export function findingsOf(
  issue: z.core.$ZodIssue,
  knownKeys: (path: readonly PropertyKey[]) => readonly string[],
): Finding[] {
  if (issue.code === "unrecognized_keys") {
    const known = knownKeys(issue.path);
    return issue.keys.map((key) => ({
      path: [...issue.path, key],
      of: "key",
      message: `there is no key "${key}" here${suggestion(key, known) || `; the keys are ${known.join(", ")}`}`,
    }));
  }
  if (issue.code === "invalid_key") {
    const message = issue.issues[0]?.message ?? issue.message;
    return [{ path: issue.path, of: "key", message }];
  }
  const key = issue.path.findLast((part) => typeof part === "string");
  const message = key === undefined ? issue.message : `${String(key)}: ${issue.message}`;
  return [{ path: issue.path, of: "value", message }];
}
