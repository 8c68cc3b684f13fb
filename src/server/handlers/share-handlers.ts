import type { Context } from "hono";
import { type Principal, type Where, wholeFarm } from "#access/principal.ts";
import { mayDo, requireGrant } from "#access/require-grant.ts";
import { listShareLinks, type ShareLink } from "#access/share-links/share-link.store.ts";
import { makeShareLink, openShareLink, revokeShareLink } from "#access/share-links/share-links.ts";
import type { shareEndpoints } from "#api/endpoints/share-endpoints.ts";
import * as api from "#api/share.ts";
import { Fault } from "#core/fault.ts";
import type { SharedObject } from "#core/shared-object.ts";
import { graphSummary } from "#graphs/graph-summary.store.ts";
import { comparisonCache } from "#perf/history/comparison-cache.ts";
import { resolveComparison } from "#perf/history/read-comparison.ts";
import { logAnswer } from "../http/log-answer.ts";
import { logPositionOf } from "../http/log-position.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { LogPages } from "../logs/log-pages.ts";
import { readRunLog } from "../run-log.ts";
import { findRunOutput } from "../run-output.ts";
import { found } from "./found.ts";
import { graphIdOf } from "./graph-of-call.ts";
import type { HandlerServices } from "./handler-services.ts";
import { outputAnswer } from "./output-answer.ts";
import { runOfCall } from "./run-of-call.ts";

export function shareHandlers(services: HandlerServices): HandlersFor<typeof shareEndpoints> {
  const { db, clock, url } = services;

  const make = async (
    by: Principal,
    object: SharedObject,
    where: Where,
    expiresInMs: number,
  ): Promise<api.CreatedShareLink> => {
    const { link, token } = await db.transaction((tx) =>
      makeShareLink(tx, by, object, where, expiresInMs, clock.now()),
    );
    // After `#`, so that no browser or proxy sends it or writes it down.
    return { ...linkForPage(link), token, url: `${url}/shared#${token}` };
  };

  return {
    async shareRun({ params: { graph, job, run }, body: { path, batch, expiresInMs }, caller }) {
      const id = graphIdOf({ graph });
      const { repository, branch } = found(await graphSummary(db, id), `graph ${id}`);
      const where = { repository, branch };
      const named = { graph: id, job, run };
      if (path === undefined) {
        requireGrant(caller, "read-logs", where);
        await runOfCall(db, named, batch);
        const object = {
          kind: "log",
          ...named,
          ...(batch === undefined ? {} : { batch }),
        } as const;
        return make(caller, object, where, expiresInMs);
      }
      requireGrant(caller, "read", where);
      const { output, name } = await runOfCall(db, named);
      found(await findRunOutput(services.blobsOf, output, path), `output "${path}" of ${name}`);
      return make(caller, { kind: "output", ...named, path }, where, expiresInMs);
    },
    async shareComparison({ body: { expiresInMs, ...query }, caller }) {
      requireGrant(caller, "read", wholeFarm);
      const { before, after, metric } = await resolveComparison(db, query);
      const object = {
        kind: "comparison",
        suite: query.suite,
        before: before.tag,
        after: after.tag,
        metric,
      } as const;
      return make(caller, object, wholeFarm, expiresInMs);
    },
    ...managingHandlers(services),
    ...openingHandlers(services),
  };
}

/** The links of a maker, and their revocation. */
function managingHandlers(
  services: HandlerServices,
): Pick<HandlersFor<typeof shareEndpoints>, "shareLinks" | "revokeShareLink"> {
  const { db, clock } = services;
  /** The maker whose links a caller sees; undefined: all. */
  const makerSeenBy = (by: Principal) => (mayDo(by, "administer", wholeFarm) ? undefined : by.name);
  return {
    async shareLinks({ caller }) {
      return (await listShareLinks(db, makerSeenBy(caller))).map(linkForPage);
    },
    async revokeShareLink({ params: { id }, caller }) {
      const link = await db.transaction((tx) =>
        revokeShareLink(tx, id, makerSeenBy(caller), caller, clock.now()),
      );
      return linkForPage(found(link, `share link "${id}"; \`grange share list\` shows yours`));
    },
  };
}

/** What links open, for callers without any other right. */
function openingHandlers(
  services: HandlerServices,
): Pick<
  HandlersFor<typeof shareEndpoints>,
  | "shared"
  | "sharedLog"
  | "sharedLogIndex"
  | "sharedLogSearch"
  | "sharedOutput"
  | "sharedComparison"
> {
  const { db, blobsOf, clock } = services;
  const comparisons = comparisonCache(db);

  const opened = (context: Context, caller: Principal) =>
    openShareLink(db, context.req.header(api.shareHeader), caller, clock.now());
  const logPages = new LogPages();
  const openedLog = async (context: Context, caller: Principal) => {
    const { object } = await opened(context, caller);
    if (object.kind !== "log") throw opensOnly(object);
    const { output, name } = await runOfCall(db, object, object.batch);
    const key = `${name} ${output.executionId ?? ""}`;
    return {
      key,
      read: (offset: number, most: number) => readRunLog(services, output, offset, most),
    };
  };

  return {
    async shared({ context, caller }) {
      const { object, madeBy, expiresAt } = await opened(context, caller);
      return { object, madeBy, expiresAt: expiresAt.toISOString() };
    },
    async sharedLog({ query: { limit }, context, caller }) {
      const { read } = await openedLog(context, caller);
      const { offset } = logPositionOf(context);
      return logAnswer(context, await read(offset, limit), limit);
    },
    async sharedLogIndex({ context, caller }) {
      const { key, read } = await openedLog(context, caller);
      return logPages.index(key, read);
    },
    async sharedLogSearch({ query, context, caller }) {
      const { key, read } = await openedLog(context, caller);
      return logPages.search(key, read, query, context.req.raw.signal);
    },
    async sharedOutput({ context, caller }) {
      const { object } = await opened(context, caller);
      if (object.kind !== "output") throw opensOnly(object);
      return outputAnswer(context, blobsOf, await runOfCall(db, object), object.path);
    },
    async sharedComparison({ context, caller }) {
      const { object } = await opened(context, caller);
      if (object.kind !== "comparison") throw opensOnly(object);
      const { comparison } = await comparisons.get(object);
      return found(comparison, "such comparison");
    },
  };
}

function opensOnly({ kind }: SharedObject): Fault {
  return new Fault("failed_precondition", `this share link opens a ${kind} only`);
}

function linkForPage(link: ShareLink): api.ShareLink {
  return {
    ...link,
    madeAt: link.madeAt.toISOString(),
    expiresAt: link.expiresAt.toISOString(),
    openedAt: link.openedAt?.toISOString() ?? null,
    revokedAt: link.revokedAt?.toISOString() ?? null,
  };
}
