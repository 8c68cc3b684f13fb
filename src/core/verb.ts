import { z } from "zod";

/** The verbs of grants, one for each right. */
export const Verb = z.enum([
  "read",
  "read-logs",
  "read-sources",
  "read-audit",
  "share",
  "submit",
  "cancel",
  "retrigger",
  "waive",
  "activate",
  "release",
  "customise",
  "prioritise",
  "clone",
  "report",
  "define",
  "sign",
  "execute",
  "cache",
  "upload",
  "benchmark",
  "measure",
  "administer",
  "work",
  "secret",
  "forge",
]);
export type Verb = z.infer<typeof Verb>;

/** The verbs by which a caller reads what the farm has of a repository or a project. */
export const readingVerbs = ["read", "read-logs", "read-sources"] as const satisfies Verb[];
