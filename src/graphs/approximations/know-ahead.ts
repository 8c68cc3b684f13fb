import { toBinary } from "@bufbuild/protobuf";
import { lookUpActionResult } from "#actions/action-cache.ts";
import { type Digest, emptyDigest } from "#core/digest.ts";
import { readableDomains } from "#core/readable-domains.ts";
import type { Tx } from "#db/db.ts";
import type { AheadHint } from "#execution/claiming/look-ahead-service.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { buildAction } from "../build-action.ts";
import type { PreparationServices } from "../prepare-job.ts";
import type { ReadyJob } from "../ready-job.store.ts";
import { resolveImages, withImages } from "../resolved-image.ts";
import { actionOfApproximation, actionsAlike } from "./approximation.store.ts";
import { chainKey, factsOf, type JobFacts } from "./approximation-facts.store.ts";
import { areResultsKnown, canBeApproximated } from "./can-be-approximated.ts";
import { nameAhead, nameWeakly } from "./name-ahead.ts";

/** The lookup for a job that waits only for its inputs. */
export interface LookedAhead {
  readonly job: ReadyJob;
  /** The facts that the result depends on: when they have changed, the result is not used. */
  readonly facts: readonly JobFacts[];
  /** A result that is correct whichever inputs are found; undefined when none is known. */
  readonly known:
    | { readonly actionDigest: Digest; readonly result: Uint8Array; readonly madeAt: Date }
    | undefined;
  /** Similar actions: the inputs that they read are worth fetching. */
  readonly hints: readonly AheadHint[];
}

/**
 * The most actions of one job whose inputs a worker prefetches. The newest usually has nearly all inputs, and older
 * ones add nothing.
 */
const mostHints = 2;

/** Names of a job's action that are known before the job's inputs are. */
export interface Approximations {
  /** Undefined when the action does not follow from the facts that are known ahead. */
  readonly over: string | undefined;
  readonly weak: string;
}

/** Checks whether the result of a job is known before its inputs are found. It decides nothing. */
export async function lookAhead(
  services: PreparationServices,
  ready: ReadyJob,
): Promise<LookedAhead> {
  const { db, trees, inputs, project } = services;
  const { definition, domain } = ready;
  const images = await resolveImages(services.resolveImage, definition, { project, domain });
  const job = { ...ready, definition: withImages(definition, images) };
  const facts = (await factsOf(db, [job])).get(chainKey(job)) ?? [];
  const chain = withImageOf(job, facts);
  const commit = { url: job.url, sha: job.commit };
  const domains = readableDomains(domain);
  const missed = async (): Promise<LookedAhead> => {
    const weak = await nameWeakly(inputs, commit, job.job, job.definition);
    const alike = await actionsAlike(db, { project, domain, approximation: weak }, domains);
    const { platform, sizeClasses } = buildAction(job.definition, emptyDigest);
    const hints = alike.slice(0, mostHints).map((actionDigest) => ({
      project,
      actionDigest,
      platform,
      sizeClass: sizeClasses.least,
    }));
    return { job, facts, known: undefined, hints };
  };
  // The finder itself has not ended; those before it have.
  if (!canBeApproximated(chain) || !areResultsKnown(chain.slice(2))) return missed();
  const approximation = await nameAhead(inputs, commit, chain);
  const actionDigest = await actionOfApproximation(db, { project, domain, approximation }, domains);
  if (actionDigest === undefined) return missed();
  const hit = await lookUpActionResult(db, trees, { project, domain, actionDigest });
  if (hit === undefined) return missed();
  const result = toBinary(ActionResultSchema, hit.result);
  return { job, facts, known: { actionDigest, result, madeAt: hit.createdAt }, hints: [] };
}

/** Returns the names to store with the action of a job whose inputs were found; undefined for any other job. */
export async function approximationsOf(
  { db, inputs }: Pick<PreparationServices, "inputs"> & { readonly db: Tx },
  job: ReadyJob,
): Promise<Approximations | undefined> {
  if (job.definition["inputs-from"] === undefined) return undefined;
  const commit = { url: job.url, sha: job.commit };
  const weak = await nameWeakly(inputs, commit, job.job, job.definition);
  const chain = withImageOf(job, (await factsOf(db, [job])).get(chainKey(job)) ?? []);
  const follows = canBeApproximated(chain) && areResultsKnown(chain.slice(1));
  return { over: follows ? await nameAhead(inputs, commit, chain) : undefined, weak };
}

/** Returns the facts of a job, with the images that its action has, and of the jobs that find its inputs. */
function withImageOf(job: ReadyJob, [own, ...finders]: readonly JobFacts[]): readonly JobFacts[] {
  if (own === undefined) return [];
  const { image, services } = job.definition;
  const definition = {
    ...own.definition,
    ...(image === undefined ? {} : { image }),
    ...(services === undefined ? {} : { services }),
  };
  return [{ ...own, definition }, ...finders];
}
