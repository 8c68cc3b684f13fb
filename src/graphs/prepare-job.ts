import { toBinary } from "@bufbuild/protobuf";
import { lookUpActionResult } from "#actions/action-cache.ts";
import { buildDirectoryTree, uploadDirectories } from "#cas/build-directory-tree.ts";
import { layOver } from "#cas/lay-over.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { SecretReference } from "#core/secret-reference.ts";
import type { Db } from "#db/db.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { type Approximations, approximationsOf } from "./approximations/know-ahead.ts";
import { rulesOf, takeFoundInputs } from "./approximations/take-found-inputs.ts";
import { type BuiltAction, buildAction } from "./build-action.ts";
import { type PreparedChunks, prepareChunks } from "./chunks/prepare-chunks.ts";
import type { CommitInputs } from "./commit-inputs.ts";
import { graphFileOf } from "./kinds/definitions-of-child.ts";
import type { ProjectOfJobs } from "./project-of-jobs.ts";
import type { ReadyJob } from "./ready-job.store.ts";
import {
  type ResolvedImages,
  type ResolveImage,
  resolveImages,
  withImages,
} from "./resolved-image.ts";
import { rightsOfJob } from "./rights-of-job.ts";
import { latestResults } from "./run.store.ts";
import { takeOutputs } from "./take-outputs.ts";
import { takeSource } from "./take-source.ts";

/** Returns the secrets that a run gets; throws `failed_precondition` when it may not use one. */
type ReferToSecrets = (
  names: readonly string[],
  place: Pick<ReadyJob, "repository" | "branch" | "domain">,
) => Promise<readonly SecretReference[]>;

/** The services for a job of one project. */
export interface PreparationServices extends SharedPreparation, ProjectOfJobs {}

/** The part of the services that is the same for all projects. */
export interface SharedPreparation {
  readonly db: Db;
  /** Absent when no secrets are stored. */
  readonly secrets?: ReferToSecrets | undefined;
  /** Replaces the tag of a container image by its digest. Absent: workers do it. */
  readonly resolveImage?: ResolveImage | undefined;
}

/** The outcome of a job's preparation. */
export type Prepared =
  | {
      readonly kind: "to-execute";
      readonly built: BuiltAction;
      readonly names?: Approximations | undefined;
    }
  | {
      readonly kind: "hit";
      readonly actionDigest: Digest;
      readonly result: Uint8Array;
      readonly madeAt: Date;
      /** Present when another job found its inputs. */
      readonly names?: Approximations | undefined;
    }
  /** Its definition names the graph, so it needs no action. */
  | { readonly kind: "to-plan" }
  | PreparedChunks;

/**
 * Decides how a ready job is served; throws `invalid_argument`, `not_found` or `failed_precondition` when the job
 * itself is the cause.
 *
 * It stores nothing in the database, so it may be repeated or interrupted.
 */
export async function prepareJob(services: PreparationServices, job: ReadyJob): Promise<Prepared> {
  const { project } = services;
  const { definition, domain } = job;
  const images = await resolveImages(services.resolveImage, definition, { project, domain });
  return prepareWith(images, services, { ...job, definition: withImages(definition, images) });
}

async function prepareWith(
  images: ResolvedImages,
  services: PreparationServices,
  job: ReadyJob,
): Promise<Prepared> {
  const { definition } = job;
  const kind = definition.kind ?? "command";
  switch (kind) {
    case "command":
      return definition.chunks === undefined
        ? prepareAction(services, job, definition)
        : prepareChunks(services, job, definition.chunks, await inputRoot(services, job), images);
    case "graph": {
      if (definition.commands === undefined) return { kind: "to-plan" };
      const outputs = [...(definition.outputs ?? []), graphFileOf(definition)];
      return prepareAction(services, job, { ...definition, outputs });
    }
    case "join":
    case "breakpoint":
    case "timer":
    case "notify":
    case "dummy":
      throw new Fault("internal", `a ${kind} job needs no preparation`);
  }
}

/** Turns a ready job into an action, stores the action's inputs, and looks up its result. */
async function prepareAction(
  services: PreparationServices,
  job: ReadyJob,
  definition: JobDefinition,
): Promise<Prepared> {
  const { db, store, trees, project } = services;
  // Before the cache lookup: the result of a run with a secret is also only for runs that may use the secret.
  const secrets = await secretsOf(services, job);
  const built = buildAction(definition, await inputRoot(services, job), secrets, rightsOfJob(job));
  const names = await approximationsOf(services, job);
  await Promise.all(
    [built.command, built.action].map(({ digest, bytes }) => store.put(digest, bytes)),
  );

  // A retrigger of a successful run requests a new execution.
  if (!job.skipCache && job.cause !== "retrigger") {
    const actionDigest = built.action.digest;
    const hit = await lookUpActionResult(db, trees, { project, domain: job.domain, actionDigest });
    if (hit !== undefined) {
      return {
        kind: "hit",
        actionDigest,
        result: toBinary(ActionResultSchema, hit.result),
        madeAt: hit.createdAt,
        names,
      };
    }
  }
  return { kind: "to-execute", built, names };
}

async function secretsOf(
  { secrets }: PreparationServices,
  job: ReadyJob,
): Promise<readonly SecretReference[]> {
  const names = job.definition.secrets ?? [];
  if (names.length === 0) return [];
  if (secrets === undefined) throw new Fault("failed_precondition", "this farm has no secrets");
  return secrets(names, job);
}

async function inputRoot(services: PreparationServices, job: ReadyJob): Promise<Digest> {
  const { db, store, trees, inputs } = services;
  const files = await commitFiles(services, job);
  const needs = Object.entries(job.definition.needs ?? {}).filter(
    ([, need]) => need.outputs?.length !== 0,
  );
  const { sources = [] } = job.definition;
  if (needs.length === 0 && sources.length === 0) return files.root;
  const made = new Map(
    (
      await latestResults(
        db,
        job.graphId,
        needs.map(([from]) => from),
      )
    ).map((result) => [result.job, result]),
  );
  const overlays = await Promise.all([
    ...sources.map((source) => takeSource(inputs, source, job.definition)),
    ...needs.map(([from, need]) => {
      // If the source may be missing, its end is ignored.
      const asIs = job.goesWithout.includes(from) ? { ...need, on: "end" as const } : need;
      return takeOutputs(trees, from, asIs, made.get(from));
    }),
  ]);
  if (overlays.every(({ entries }) => entries.length === 0)) return files.root;
  const parts = await layOver(store, files.entries, overlays);
  return uploadDirectories(store, buildDirectoryTree(parts));
}

/** Returns the files of the commit that the job reads: those in its definition, or those that another job has found. */
async function commitFiles(services: PreparationServices, job: ReadyJob): Promise<CommitInputs> {
  const commit = { url: job.url, sha: job.commit };
  const from = job.definition["inputs-from"];
  if (from === undefined) {
    const { inputs, sources = [], lfs } = job.definition;
    const submodules = sources.filter(({ submodule }) => submodule === true).map(({ at }) => at);
    return services.inputs.read(commit, inputs, { submodules, lfs });
  }
  const [made] = await latestResults(services.db, job.graphId, [from.job]);
  return takeFoundInputs(services, commit, from, rulesOf(job.definition), made, job.definition.lfs);
}
