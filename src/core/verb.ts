import { z } from "zod";

/** The verbs of grants, one for each right. */
export const Verb = z.enum([
  "read",
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
  "benchmark",
  "measure",
  "administer",
  "work",
  "secret",
  "forge",
]);
export type Verb = z.infer<typeof Verb>;
