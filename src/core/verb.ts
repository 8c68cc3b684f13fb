import { z } from "zod";

/** What somebody may be allowed to do; one right each. */
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
