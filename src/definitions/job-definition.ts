import { z } from "zod";
import { JobKind } from "#api/graph.ts";
import { IsolationLevel } from "#core/isolation-level.ts";
import { parseMemorySize } from "#core/memory-size.ts";
import { parseDuration } from "./duration.ts";
import { foundInputsShape, problemsOfFoundInputs } from "./found-inputs-keys.ts";
import { JobName } from "./job-name.ts";
import { kindShape, problemsOfKind } from "./kind-keys.ts";
import { NeededEnd } from "./need-condition.ts";
import { oneOrMany } from "./one-or-many.ts";
import { Errors, Failure, problemsOfOutcomeKeys, Success } from "./outcome-keys.ts";
import { rangeShape } from "./range-keys.ts";
import { InputGlob, RelativePath } from "./relative-path.ts";
import { problemsOfSecrets, SecretNames } from "./secret-keys.ts";
import { ImageName, problemsOfServices, Services } from "./service-keys.ts";
import { Sources } from "./sources-key.ts";
import { problemsOfToken, tokenShape } from "./token-keys.ts";

const text = z.string().max(64 * 1024, "a text has at most 65,536 characters");

/** People write `3` and `true` without quotes; processes and workers only use text. */
const scalar = z
  .union([text, z.number(), z.boolean()], { error: "must be a text, a number, true or false" })
  .transform(String);

/** The files that a job uses from another job, their place, and the required end of that job. */
const Need = z.strictObject({
  outputs: oneOrMany(RelativePath, "the path of an output")
    .optional()
    .describe("The outputs of that job that are used: all by default; [] uses none."),
  at: RelativePath.optional().describe(
    "The directory for them. By default each has the path at which that job made it.",
  ),
  on: NeededEnd.optional().describe(
    "The required end of that job: success (default), failure, end for either, an outcome such as timed_out, or one of its failure classes.",
  ),
  optional: z
    .boolean()
    .optional()
    .describe("Run even if the other job is not in the graph (its `when` is false)."),
});
export type Need = z.output<typeof Need>;

const Needs = z
  .union(
    [
      z.array(JobName).transform((names) => Object.fromEntries(names.map((name) => [name, {}]))),
      z.record(
        JobName,
        Need.nullable().transform((need) => need ?? {}),
      ),
    ],
    {
      error:
        "must be a list of jobs' names, or a map from a job's name to the outputs that are used",
    },
  )
  .transform((needs): Readonly<Record<string, Need>> => needs);

/**
 * One job of `.grange/*.yml` after its placeholders were filled.
 *
 * Parsing unifies spellings only (one command or a list of one). Absent keys stay absent: a default that changes later
 * must not change the digest of every definition that does not mention the key.
 */
export const JobDefinition = z
  .strictObject({
    description: text.optional().describe("For people: what the job is for."),
    kind: z
      .enum(JobKind.options, { error: `must be one of ${JobKind.options.join(", ")}` })
      .optional()
      .describe(
        "command (default) runs commands; join runs nothing and groups other jobs under one name; breakpoint waits for a person, timer for a time; notify sends a notification; graph makes a separate graph; dummy ends without running commands.",
      ),
    when: z
      .union([z.boolean(), text], { error: "must be an expression, true or false" })
      .optional()
      .describe(
        "JSON-e expression: the job is in the graph only where it is true. Example: branch == 'main'",
      ),
    tags: z
      .record(z.string().min(1).max(64), scalar)
      .optional()
      .describe("Names and values of your choice, to find and to group jobs."),
    commands: oneOrMany(text, "a command")
      .optional()
      .describe(
        "One /bin/sh runs them in sequence until one fails. Write $NAME, not ${NAME}, for variables of the shell.",
      ),
    inputs: oneOrMany(InputGlob, "a pattern of paths")
      .optional()
      .describe(
        "Patterns of the files that the job reads; !pattern excludes files. By default all files of the commit. A change of other files does not cause the job to run again.",
      ),
    ...foundInputsShape,
    sources: Sources.optional(),
    submodules: z
      .boolean()
      .optional()
      .describe(
        "Whether the job reads the submodules that its inputs match, each at its path. Default: true.",
      ),
    lfs: z
      .boolean()
      .optional()
      .describe(
        "Whether the job reads the files of Git LFS instead of their pointers. Default: true.",
      ),
    needs: Needs.optional().describe("Jobs that run first, and the outputs of them that are used."),
    platform: z
      .record(z.string().min(1).max(256), scalar)
      .optional()
      .describe("Properties that a worker must offer. Example: OSFamily: linux"),
    limits: z
      .strictObject({
        cpus: z
          .number({ error: "must be a number of processors such as 2 or 0.5" })
          .positive("must be more than 0")
          .max(1_024)
          .optional()
          .describe("Processors that the job may use."),
        memory: z
          .string({ error: 'must be an amount of memory such as "512MiB"' })
          .refine(
            (size) => (parseMemorySize(size) ?? 0) > 0,
            'must be an amount of memory such as "512MiB"',
          )
          .optional()
          .describe("Memory that the job may use. Example: 512MiB"),
        outputs: z
          .string({ error: 'must be an amount of bytes such as "512MiB"' })
          .refine(
            (size) => (parseMemorySize(size) ?? 0) > 0,
            'must be an amount of bytes such as "512MiB"',
          )
          .optional()
          .describe(
            "The largest total size of the outputs, within the limit of the worker. Example: 512MiB",
          ),
      })
      .optional()
      .describe("The limits of the job on its machine."),
    timeout: z
      .string({ error: 'must be a duration such as "10m"' })
      .refine(isTimeout, 'must be a duration from 1s to 24h, such as "90s", "10m" or "1h 30m"')
      .optional()
      .describe("After this time the job is stopped and counts as timed out. Default: 1h."),
    environment: z
      .record(
        z
          .string()
          .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "a variable's name has letters, digits and _ only"),
        scalar,
      )
      .optional()
      .describe("Variables of the environment, in addition to PATH, HOME and TMPDIR."),
    outputs: oneOrMany(RelativePath, "a path")
      .optional()
      .describe(
        "Files and directories that the job makes; they are stored and passed to jobs that need it.",
      ),
    image: ImageName.optional().describe(
      "The container image in which the commands run. Default: the programs of the worker's machine.",
    ),
    services: Services.optional(),
    network: z
      .boolean()
      .optional()
      .describe("Whether the job may use the network. Default: false."),
    isolation: IsolationLevel.optional().describe(
      "What the worker's sandbox must prevent. sandbox: access of the job to the machine or to other jobs. strict: also exhaustion of the machine's resources. The job waits for such a worker.",
    ),
    secrets: SecretNames.optional(),
    ...tokenShape,
    retries: z
      .number({ error: "must be a number from 0 to 10" })
      .int("must be a whole number")
      .min(0, "must be from 0 to 10")
      .max(10, "must be from 0 to 10")
      .optional()
      .describe("How often the farm runs a failed job again. Default: 0."),
    success: Success.optional(),
    failure: Failure.optional(),
    errors: Errors.optional(),
    ttl: z
      .string({ error: 'must be a duration such as "2h"' })
      .refine(isTimeToLive, 'must be a duration from 1s to 30d, such as "15m" or "2h"')
      .optional()
      .describe("How long the job may wait for its start. Default: no limit."),
    "on-expiry": z
      .enum(["fail", "skip-good", "skip-bad"], { error: "must be fail, skip-good or skip-bad" })
      .optional()
      .describe(
        "The result of a job that waited longer than its ttl: it fails (default), or it is skipped and jobs that need it continue (skip-good) or are skipped, too (skip-bad).",
      ),
    priority: z
      .number()
      .int()
      .min(-1_000)
      .max(1_000)
      .optional()
      .describe("Jobs with a higher number start first. Default: 0."),
    protect: z
      .boolean()
      .optional()
      .describe(
        "Nobody can customise this job in a graph, not even with the grant; for release jobs.",
      ),
    "working-directory": RelativePath.optional().describe(
      "The directory in which the commands start; paths of inputs and outputs still start at the top.",
    ),
    ...kindShape,
    ...rangeShape,
  })
  .superRefine((job, context) => {
    for (const { path, message } of problemsOfOutcomeKeys(job))
      context.addIssue({ code: "custom", path: [...path], message });
    for (const { path, message } of problemsOfKind(job))
      context.addIssue({ code: "custom", path: [...path], message });
    for (const { path, message } of problemsOfFoundInputs(job))
      context.addIssue({ code: "custom", path: [...path], message });
    for (const { path, message } of [
      ...problemsOfSecrets(job),
      ...problemsOfToken(job),
      ...problemsOfServices(job),
    ])
      context.addIssue({ code: "custom", path: [...path], message });
  });
export type JobDefinition = Omit<z.output<typeof JobDefinition>, "when">;

/** The job's keys, for suggestions after a wrong key. */
export const jobKeys: readonly string[] = Object.keys(JobDefinition.shape);

function isTimeToLive(written: string): boolean {
  const ms = parseDuration(written);
  return ms !== undefined && ms >= 1_000 && ms <= 30 * 24 * 3_600_000;
}

function isTimeout(written: string): boolean {
  const ms = parseDuration(written);
  return ms !== undefined && ms >= 1_000 && ms <= 24 * 3_600_000;
}
