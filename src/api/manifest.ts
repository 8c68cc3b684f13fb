import { z } from "zod";
import { Findings } from "./findings.ts";
import { JobKind, RunCause, RunOutcome, RunServer } from "./graph.ts";

const Time = z.iso.datetime();

/**
 * The description of a run and its outputs, for programs that store or publish it: one self-contained JSON text.
 *
 * `format` is incremented when a reader of the earlier one would misread it; adding keys does not change it.
 */
export const RunManifest = z
  .object({
    format: z.literal(1),
    repository: z.string(),
    commit: z.string(),
    branch: z.string(),
    graph: z.string(),
    job: z.string(),
    kind: JobKind,
    run: z.number().int(),
    cause: RunCause,
    /** `outside`: another machine reported it, and the farm does not guarantee any of it. */
    servedBy: RunServer,
    worker: z.string().nullable(),
    /** `<hash>/<size>` of the REv2 action; null when the farm made none. */
    action: z.string().nullable(),
    /** Nothing was executed: another run's result was used. */
    cached: z.boolean(),
    /** A person changed the job's definition for this graph alone. */
    customised: z.boolean(),
    outcome: RunOutcome,
    exitCode: z.number().int().nullable(),
    startedAt: Time.nullable(),
    finishedAt: Time,
    outputs: z.array(
      z.object({
        path: z.string(),
        kind: z.enum(["file", "directory", "symlink"]),
        /** `<hash>/<size>`: of a file's bytes, or of a directory's REv2 Tree. */
        digest: z.string().nullable(),
        sizeBytes: z.number().nullable(),
        /** The address of a file, relative to the farm's address. */
        url: z.string().nullable(),
      }),
    ),
    log: z.object({
      url: z.string(),
      /** `<hash>/<size>`; null when it is not a blob. */
      digest: z.string().nullable(),
    }),
    findings: Findings,
    /** The job's own part: its output `manifest.json`, if it exists and has at most 64 KiB. */
    extra: z.json().nullable(),
    /** Why `extra` is missing although the job made the file. */
    extraProblem: z.string().nullable(),
  })
  .meta({ id: "RunManifest" });
export type RunManifest = z.infer<typeof RunManifest>;

/** The file among a job's outputs that becomes `extra`. */
export const extraManifestFile = "manifest.json";
export const mostExtraBytes = 64 * 1024;
