import { z } from "zod";
import { JobName } from "./job-name.ts";
import { oneOrMany } from "./one-or-many.ts";
import { InputGlob, RelativePath } from "./relative-path.ts";

/** The keys of a job whose inputs another job finds. */
export const foundInputsShape = {
  "inputs-from": z
    .strictObject({
      job: JobName.describe("The job that finds them. It runs first, like a needed job."),
      output: RelativePath.describe(
        "Its file with the inputs: one path or pattern a line, within may-read.",
      ),
    })
    .optional()
    .describe(
      "Another job determines which files of the commit the job reads. The files in `inputs` are read, too; by default none.",
    ),
  "may-read": oneOrMany(InputGlob, "a pattern of paths")
    .optional()
    .describe(
      "With inputs-from: patterns of all files that may be found. If none of these files has changed, the farm knows the result without searching.",
    ),
} as const;

interface JobWithFoundInputs {
  readonly "inputs-from"?: { readonly job: string; readonly output: string } | undefined;
  readonly "may-read"?: readonly string[] | undefined;
  readonly needs?:
    | Readonly<Record<string, { optional?: boolean | undefined; on?: unknown }>>
    | undefined;
  readonly outside?: boolean | undefined;
}

interface Problem {
  readonly path: readonly string[];
  readonly message: string;
}

/** Returns the contradictions in a job whose inputs another job finds. */
export function problemsOfFoundInputs(job: JobWithFoundInputs): Problem[] {
  const { "inputs-from": from, "may-read": mayRead } = job;
  if (from === undefined) {
    if (mayRead === undefined) return [];
    const message = '"may-read" bounds what "inputs-from" finds: add that, or write "inputs"';
    return [{ path: ["may-read"], message }];
  }
  const problems: Problem[] = [];
  const complain = (path: readonly string[], message: string) => problems.push({ path, message });
  if (mayRead === undefined || mayRead.length === 0) {
    complain(
      mayRead === undefined ? ["inputs-from"] : ["may-read"],
      '"inputs-from" needs "may-read": patterns of all files that may be found, such as ["src/**"]',
    );
  }
  if (job.outside === true)
    complain(["inputs-from"], "a job that runs outside of the farm is given no inputs");
  const need = job.needs?.[from.job];
  if (need?.optional === true || (need?.on !== undefined && need.on !== "success")) {
    complain(
      ["needs", from.job],
      `job "${from.job}" finds the inputs: it must be there and succeed, so this needs neither "optional" nor "on"`,
    );
  }
  return problems;
}
