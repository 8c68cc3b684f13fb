import { z } from "zod";
import { serviceImageKeys } from "#core/action-services.ts";
import { digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { keepableText } from "#core/keepable-text.ts";
import { imageKeyOf, imageOf } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { laneOf, ownerLaneOf, topLane } from "../claiming/fair-lane.ts";
import { preferIndexes, preferKnownPlans } from "../claiming/prefer-indexes.store.ts";
import { queuePlace } from "../claiming/queue-place.ts";
import { ExecutionId, type ExecutionRequest } from "../execution.ts";
import { insertExecutionSpans } from "../execution-span.store.ts";
import { notifyQueue } from "../notify.store.ts";
import { recordDecisions } from "../sizing/size-decision.store.ts";
import { checkRequest, requirementsText } from "./check-request.ts";

/** The execution that serves a request. */
export interface Submitted {
  readonly requestId: ExecutionId;
  /** The request's own id, or that of an equal execution in flight. */
  readonly executionId: ExecutionId;
  /** Whether this call put it into the queue. */
  readonly isNew: boolean;
  /**
   * The request had been submitted before, and its execution has ended: read it, because no notification will follow.
   */
  readonly isFinished: boolean;
  /** The time of queuing, if this call queued it. */
  readonly queuedAt?: Date;
}

/** Up to this many, the planner needs no values. */
const fewRequests = 16;
/** A request needs another round only when its execution ends at that moment. */
const mostRounds = 10;
/** For people. A mnemonic and a target together may be longer than either alone. */
const longestTitle = 1_024;

/**
 * Puts executions into the queue, or joins those in flight.
 *
 * Submitting an id twice has the same effect as once. A request whose action is in flight in the same project and
 * domain is served by that execution, which is then locked until this transaction ends: it cannot end between joining
 * it and recording the join.
 */
export async function submitExecutions(
  tx: Tx,
  requests: readonly ExecutionRequest[],
  now: Date,
  /** Called after each statement that may add executions to the queue. */
  sent: () => void = () => {},
): Promise<Submitted[]> {
  if (requests.length === 0) return [];
  for (const request of requests) checkRequest(request);
  const served = new Map<ExecutionId, Submitted>();
  await preferIndexes(tx);
  if (requests.length <= fewRequests) await preferKnownPlans(tx);
  for (let round = 0; served.size < new Set(requests.map(({ id }) => id)).size; round++) {
    if (round === mostRounds)
      throw new Fault("aborted", "executions end faster than they are joined");
    const open = requests.filter(({ id }) => !served.has(id));
    const rows = asRows(open, now);
    const inserting = insertNew(tx, rows);
    sent();
    const inserted = await inserting;
    for (const id of inserted)
      served.set(id, {
        requestId: id,
        executionId: id,
        isNew: true,
        isFinished: false,
        queuedAt: now,
      });
    if (inserted.length < open.length) {
      for (const each of await joinKnown(tx, rows)) {
        if (!served.has(each.requestId)) served.set(each.requestId, { ...each, isNew: false });
      }
    }
  }
  const entered = requests.filter(({ id }) => served.get(id)?.isNew);
  const decisions = entered.flatMap(({ id, project, domain, chosen }) =>
    chosen === undefined ? [] : [{ id, project, domain, purpose: "first" as const, chosen }],
  );
  // Not awaited, so that they are sent with the next statement, which also fails if these fail.
  recordDecisions(tx, decisions).catch(() => {});
  const traced = entered.flatMap(({ id, span }) => (span === undefined ? [] : [{ id, span }]));
  insertExecutionSpans(tx, traced).catch(() => {});
  if (entered.length > 0) notifyQueue(tx).catch(() => {});
  return requests.flatMap(({ id }) => served.get(id) ?? []);
}

function asRows(requests: readonly ExecutionRequest[], now: Date): string {
  return JSON.stringify(
    requests.map((request) => ({
      ...sizeColumns(request),
      id: request.id,
      project: request.project,
      domain: request.domain,
      action_digest: digestKey(request.actionDigest),
      invocation: request.invocation,
      lane: laneOf(request),
      owner: request.owner ?? "",
      owner_lane: ownerLaneOf(request),
      similarityKeys: request.similarityKeys ?? [],
      place: queuePlace({ ...request, expectedDurationMs: expectedMs(request), queuedAt: now }),
      priority: request.priority,
      asked_timeout_ms: request.timeoutMs,
      expected_duration_ms: expectedMs(request),
      do_not_cache: request.doNotCache,
      title: keepableText(request.title ?? "", longestTitle),
      image: imageKeyOf(imageOf(request.platform)),
      serviceImages: serviceImageKeys(request.platform),
      queued_at: now,
    })),
  );
}

function expectedMs({ chosen, expectedDurationMs }: ExecutionRequest): number | undefined {
  return chosen?.expectedDurationMs ?? expectedDurationMs;
}

function sizeColumns({ platform, sizeClass, mostSizeClass, timeoutMs, chosen }: ExecutionRequest) {
  return {
    requirements: requirementsText(platform, chosen?.isExact ? chosen.sizeClass : mostSizeClass),
    size_class: chosen?.sizeClass ?? sizeClass,
    least_size_class: sizeClass,
    most_size_class: mostSizeClass,
    timeout_ms: chosen?.timeoutMs ?? timeoutMs,
    is_sized: chosen !== undefined,
    hedge_after_ms: chosen?.hedge?.afterMs,
    hedge_size_class: chosen?.hedge?.sizeClass,
  };
}
const Inserted = z.object({ id: ExecutionId });

async function insertNew(tx: Tx, rows: string): Promise<ExecutionId[]> {
  // In the order of the unique index, so that two batches cannot deadlock.
  const inserted = await tx.many(
    Inserted,
    sql`
      insert into execution (
        id, project, domain, action_digest, requirements, size_class, invocation, owner, owner_lane,
        kin, lane, place, priority, timeout_ms, expected_duration_ms, do_not_cache, queued_at,
        least_size_class, most_size_class, asked_timeout_ms, is_sized, hedge_after_ms,
        hedge_size_class, title, image, service_images
      )
      select
        id, project, domain, action_digest, requirements, size_class, invocation, owner, owner_lane,
        array(select json_array_elements_text("similarityKeys")), lane, place, priority, timeout_ms,
        expected_duration_ms, do_not_cache, queued_at, least_size_class, most_size_class,
        asked_timeout_ms, is_sized, hedge_after_ms, hedge_size_class, title, image,
        array(select json_array_elements_text("serviceImages"))
      from json_to_recordset(${rows}::json) as request (
        id uuid, project text, domain text, action_digest text, requirements text,
        size_class integer, invocation text, owner text, owner_lane smallint, "similarityKeys" json,
        lane smallint, place bigint, priority integer,
        timeout_ms bigint, expected_duration_ms bigint, do_not_cache boolean, queued_at timestamptz,
        least_size_class integer, most_size_class integer, asked_timeout_ms bigint, is_sized boolean,
        hedge_after_ms bigint, hedge_size_class integer, title text, image text,
        "serviceImages" json
      )
      order by project, domain, action_digest, place, id
      on conflict do nothing
      returning id
    `,
  );
  return inserted.map(({ id }) => id);
}

const Joined = z.object({
  requestId: ExecutionId,
  executionId: ExecutionId,
  isFinished: z.boolean(),
});

/**
 * Finds and locks executions that already serve the requests.
 *
 * A request of higher priority moves the execution forward, up to the top class; for a leased execution this counts if
 * it comes back. A row that finished while this statement waited for its lock no longer matches and is not returned.
 */
async function joinKnown(tx: Tx, rows: string): Promise<z.infer<typeof Joined>[]> {
  return tx.many(
    Joined,
    sql`
      with request as (
        select id, project, domain, action_digest, lane, place, priority, do_not_cache
        from json_to_recordset(${rows}::json) as request (
          id uuid, project text, domain text, action_digest text, lane smallint, place bigint,
          priority integer, do_not_cache boolean
        )
      ),
      known as (
        select request.id as request_id, found.id, request.lane, request.place, request.priority
        from request
        cross join lateral (
          (select id from execution where id = request.id)
          union
          (select id from execution
           where project = request.project and domain = request.domain
             and action_digest = request.action_digest
             and state <> 'finished' and not do_not_cache and cancel_requested_at is null
             and not request.do_not_cache)
        ) as found
      ),
      held as (
        select id, state, cancel_requested_at, do_not_cache, lane, place, priority
        from execution
        where id = any(array(select id from known))
        order by id
        for no key update
      ),
      hurried as (
        update execution
        set lane = sooner.lane, place = sooner.place, priority = sooner.priority
        from (
          select held.id,
            case when bool_or(known.lane = ${topLane}) then ${topLane} else held.lane end as lane,
            least(min(known.place), held.place) as place,
            case when min(known.place) < held.place
              then (array_agg(known.priority order by known.place))[1] else held.priority end as priority
          from known join held using (id)
          where held.state <> 'finished'
            and (known.place < held.place or known.lane = ${topLane} and held.lane <> ${topLane})
          group by held.id, held.lane, held.place, held.priority
        ) as sooner
        where execution.id = sooner.id
      )
      select distinct on (known.request_id)
        known.request_id as "requestId", known.id as "executionId",
        held.state = 'finished' as "isFinished"
      from known join held using (id)
      where known.request_id = known.id
        or (held.state <> 'finished' and held.cancel_requested_at is null)
      order by known.request_id, known.request_id = known.id desc
    `,
  );
}
