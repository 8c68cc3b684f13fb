import type { Logger } from "pino";
import type { SecretService } from "#access/secrets/secret-service.ts";
import type { ProjectStore } from "#cas/namespaces/project-blobs.ts";
import type { Clock } from "#core/clock.ts";
import type { IdleState } from "#core/idle-state.ts";
import type { Db } from "#db/db.ts";
import { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import type { ExecutionQueue } from "#execution/execution-queue.ts";
import type { Mirrors } from "#git/fetch-commit.ts";
import type { Git } from "#git/run-git.ts";
import { CatalogCache } from "#graphs/catalogs/catalog-cache.ts";
import type { CommitInputReader } from "#graphs/commit-inputs.ts";
import { startGraphRunner } from "#graphs/graph-runner.ts";
import { serveServerJobs } from "#graphs/kinds/serve-server-jobs.ts";
import { Webhooks } from "#graphs/kinds/webhooks.ts";
import type { InProject } from "#graphs/project-of-jobs.ts";
import type { RepositoryAccess } from "#graphs/repository-access.ts";
import type { ResolveImage } from "#graphs/resolved-image.ts";
import { startSearchLoop } from "#searches/search-loop.ts";
import type { Tracing } from "#tracing/tracing.ts";
import type { ServerConfig } from "./config.ts";
import type { Keep } from "./keep-services.ts";
import { sendGraphSpans } from "./tracing/send-graph-spans.ts";

interface GraphServiceParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly idle: IdleState;
  readonly storesOf: (project: string) => Pick<ProjectStore, "blobs" | "certain">;
  readonly inProject: InProject;
  readonly inputs: CommitInputReader;
  readonly queue: ExecutionQueue;
  readonly secrets: SecretService;
  readonly resolveImage: ResolveImage | undefined;
  readonly git: Git;
  readonly mirrors: Mirrors;
  readonly access: RepositoryAccess;
  readonly isWatched: (repository: string) => Promise<boolean>;
  readonly pricePerWorkerMinute: number;
  readonly webhooks: ServerConfig["webhooks"];
  /** When false, templates are filled, and other servers of the farm do the rest. */
  readonly preparesJobs: boolean;
  readonly tracing: Tracing | undefined;
  readonly keep: Keep;
}

/** Starts the services that fill templates, run graphs and server jobs, and search for commits. */
export async function startGraphServices(parts: GraphServiceParts) {
  const { db, clock, logger, idle, storesOf, inProject, inputs, queue, secrets, keep } = parts;
  const { git, mirrors, access, isWatched, pricePerWorkerMinute, tracing } = parts;
  const evaluator = keep(new TemplateEvaluator());
  const cache = new CatalogCache();
  if (!parts.preparesJobs) return { evaluator, cache };
  keep(
    await startGraphRunner({
      db,
      // A worker fails without an input, so its presence is looked up each time, without a cache.
      inProject: (project) => ({ ...inProject(project), store: storesOf(project).certain }),
      clock,
      logger,
      idle,
      transaction: (work) => queue.transaction(work),
      chooseSizes: (requests) => queue.chooseSizes(requests),
      secrets: (names, place) => secrets.referTo(names, place),
      resolveImage: parts.resolveImage,
      hint: (hint) => queue.hintAhead(hint),
    }),
  );
  const webhooks = new Webhooks(parts.webhooks);
  keep(
    await serveServerJobs({
      db,
      inProject,
      inputs,
      mirrors,
      access,
      evaluator,
      cache,
      webhooks,
      queue,
      clock,
      logger,
      idle,
      transaction: (work) => queue.transaction(work),
      chooseSizes: (requests) => queue.chooseSizes(requests),
    }),
  );
  keep(
    await startSearchLoop({
      db,
      queue,
      git,
      mirrors,
      access,
      isWatched,
      inputs,
      evaluator,
      cache,
      inProject,
      pricePerWorkerMinute,
      logger,
      idle,
      tracing,
    }),
  );
  if (tracing !== undefined) keep(await sendGraphSpans({ db, logger, idle, tracing }));
  return { evaluator, cache };
}
