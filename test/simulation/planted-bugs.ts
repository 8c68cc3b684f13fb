import type { Db } from "#db/db.ts";
import type { QueueHooks } from "#execution/queue-hooks.ts";
import type { QueueTimes } from "#execution/queue-times.ts";
import type { Scenario } from "./scenario.ts";

/** A known bug of systems of this kind, as a change of the farm inside the simulation. */
export interface PlantedBug {
  readonly name: string;
  /** Where it is known from, and what it does here. */
  readonly what: string;
  /** Parts of the farm's statements, and what they are replaced by. Each must occur. */
  readonly statements?: readonly (readonly [part: string | RegExp, by: string])[];
  /** Transactions are acknowledged before they are committed. */
  readonly acknowledgesEarly?: true;
  /** Servers trust their own clocks, not that of the database. */
  readonly trustsOwnClock?: true;
  readonly times?: Partial<QueueTimes>;
  changeHooks?(hooks: QueueHooks, db: Db): QueueHooks;
  /** Whether what the bug needs is in a scenario at all; in any when absent. */
  canShowIn?(scenario: Scenario): boolean;
}

const withGraphs = ({ graphs }: Scenario) => graphs.length > 0;
const withJobs = (kind: "timer" | "notify") => (scenario: Scenario) =>
  scenario.graphs.some(({ jobs }) => jobs.some((job) => job.kind === kind));
const withSharedGraphs = (scenario: Scenario) =>
  scenario.graphs.some(({ sharesWith }) => sharesWith !== undefined);
const withEnding = (ending: "endless" | "kills its worker") => (scenario: Scenario) =>
  scenario.behaviours.some((each) => each.ending === ending);

const leases: readonly PlantedBug[] = [
  {
    name: "rescue-by-age",
    what: "Oban's Lifeline: a lease is taken back some time after its beginning, whether its worker is alive or not",
    statements: [[/leased_until <= /g, "leased_at + interval '4 seconds' <= "]],
  },
  {
    name: "rescue-without-second-look",
    what: "River #1302: a lease that was over when it was found is ended by its id, although it was extended since",
    statements: [[`, false)) as "isOver"`, `, false) or true) as "isOver"`]],
    canShowIn: ({ aim }) => aim === "late heartbeats",
  },
  {
    name: "locks-of-fixed-length",
    what: "graphile-worker: a heartbeat does not extend a lease",
    statements: [["set leased_until = greatest(", "set leased_until = least("]],
  },
  {
    name: "stuck-running",
    what: "River #1258: nobody takes back the leases of dead workers",
    statements: [["order by leased_until limit", "and false order by leased_until limit"]],
  },
  {
    name: "alive-with-its-worker",
    what: "Temporal: work whose hand-out was lost stays with a worker that never got it, as long as that lives",
    statements: [
      [
        "order by leased_until limit",
        `and not exists (
          select from worker
          where worker.instance_id = execution.worker_instance
            and worker.last_seen_at > now() - interval '5 seconds')
        order by leased_until limit`,
      ],
    ],
  },
  {
    name: "epoch-not-raised",
    what: "Locks without fencing tokens: two hand-outs of an execution have the same epoch",
    statements: [["epoch = epoch + 1", "epoch = greatest(epoch, 1)"]],
  },
  {
    name: "ended-twice",
    what: "River: an end is taken although the execution has ended already",
    statements: [
      [
        /(where id = any\(\$\d+::uuid\[\]\)) and state = 'leased'(\s+order by id\s+for update)/,
        "$1$2",
      ],
    ],
  },
  {
    name: "own-clocks",
    what: "Several schedulers: each server decides by its own clock whether a lease is over",
    trustsOwnClock: true,
    canShowIn: ({ skewsMs }) => skewsMs.some((ms) => Math.abs(ms) > 5_000),
  },
  {
    name: "attempts-not-counted",
    what: "Kubernetes, Sidekiq: what kills its worker is tried for ever",
    statements: [["attempt = execution.attempt - ", "attempt = execution.attempt - 1 + 0 * "]],
    canShowIn: withEnding("kills its worker"),
  },
  {
    name: "given-up-at-once",
    what: "River #1105: the rescuer discards work that has attempts left",
    times: { mostAttempts: 1 },
    canShowIn: withEnding("kills its worker"),
  },
  {
    name: "no-poll",
    what: "Queues by LISTEN/NOTIFY alone: a lost notification is never made up for",
    times: { pollMs: 3_600_000, sweepEveryMs: 3_600_000 },
    canShowIn: ({ aim }) => aim === "long claims",
  },
];

const cancelling: readonly PlantedBug[] = [
  {
    name: "cancellation-not-passed-on",
    what: "Celery: a running task does not learn that it was revoked",
    statements: [[/state = 'leased' and cancel_requested_at is null(?=\s+returning)/, "false"]],
    canShowIn: withEnding("endless"),
  },
  {
    name: "unconfirmed-cancellation",
    what: "GitHub Actions: a run stays 'cancelling' when its runner does not react",
    statements: [
      ["cancel_requested_at <= ", "cancel_requested_at < '-infinity' and cancel_requested_at <= "],
    ],
    canShowIn: (scenario) =>
      withEnding("endless")(scenario) && scenario.workers.some(({ isDeaf }) => isDeaf),
  },
  {
    name: "cancels-for-all",
    what: "Merged builds: the cancellation of one requester ends what others wait for",
    changeHooks: (hooks) => ({ ...hooks, stillWanted: async () => [] }),
    canShowIn: (scenario) =>
      withSharedGraphs(scenario) &&
      scenario.graphs.some(({ cancelAfterMs }) => cancelAfterMs !== undefined),
  },
  {
    name: "joins-the-cancelled",
    what: "Merged builds: a request joins an execution that is being cancelled",
    statements: [
      // The unique index alone would still keep such requests apart.
      [
        /\)(\s+order by project, domain, action_digest, place, id\s+on conflict do nothing)/,
        `) where not exists (
          select from execution as known
          where known.project = request.project and known.domain = request.domain
            and known.action_digest = request.action_digest and known.state <> 'finished'
            and not known.do_not_cache and not request.do_not_cache)$1`,
      ],
      [/ and cancel_requested_at is null(\s+and not request\.do_not_cache)/, "$1"],
      [" and held.cancel_requested_at is null", ""],
    ],
    canShowIn: ({ aim }) => aim === "cancelled work",
  },
];

const committing: readonly PlantedBug[] = [
  {
    name: "acknowledged-early",
    what: "Asynchronous commits: the answer is sent before the commit, which a crash can undo",
    acknowledgesEarly: true,
  },
  {
    name: "end-told-after-commit",
    what: "Dual writes: the graph learns of the end of an execution in a second transaction",
    changeHooks: (hooks, db) => ({
      ...hooks,
      onFinished: async (_tx, finished) => () => {
        db.transaction(async (tx) => hooks.onFinished?.(tx, finished)).catch(() => {});
      },
    }),
    canShowIn: withGraphs,
  },
];

const graphs: readonly PlantedBug[] = [
  {
    name: "begun-before-its-needs",
    what: "Taskcluster: a task is scheduled before its dependencies are resolved",
    statements: [
      ["where state = 'ready' and kind in", "where state in ('ready', 'blocked') and kind in"],
      ["job.state = 'blocked' as is_blocked", "false as is_blocked"],
      [/where job\.state = 'ready'(?=\s*$)/, "where job.state in ('ready', 'blocked')"],
    ],
    canShowIn: withGraphs,
  },
  {
    name: "preparing-for-ever",
    what: "graphile-worker #222: what a dead server had locked stays locked",
    statements: [
      [/\(preparing_until is null or preparing_until <= now\(\)\)/g, "(preparing_until is null)"],
    ],
    canShowIn: withGraphs,
  },
  {
    name: "one-graph-told",
    what: "Merged builds: of several that wait for an execution, only one learns of its end",
    statements: [
      [
        /state <> 'finished'(\s+union\s+select graph_id from work_batch)/,
        `state <> 'finished' and graph_id = (
          select least_id::uuid from (
            select min(graph_id::text) as least_id from run where state <> 'finished') as least)$1`,
      ],
    ],
    canShowIn: withSharedGraphs,
  },
  {
    name: "timer-early",
    what: "Cron: a job is due before its time",
    statements: [[/run\.due_at <= /g, "run.due_at - interval '1 hour' <= "]],
    canShowIn: withJobs("timer"),
  },
  {
    name: "timer-missed",
    what: "Cron: what was due while no server looked is never done",
    statements: [
      [/run\.due_at <= /g, "run.due_at > now() - interval '100 milliseconds' and run.due_at <= "],
    ],
    canShowIn: withJobs("timer"),
  },
];

const outbox: readonly PlantedBug[] = [
  {
    name: "sent-at-most-once",
    what: "Outboxes: a message that its sender took and did not send is not taken again",
    statements: [
      [
        /update notification set next_at = (\$\d+)/,
        "update notification set next_at = $1::timestamptz + interval '1 year'",
      ],
    ],
    canShowIn: withJobs("notify"),
  },
  {
    name: "another-id-each-time",
    what: "GitHub's webhooks the other way round: a repeated message cannot be recognised",
    statements: [
      ["returning notification.id, graph_id", "returning gen_random_uuid() as id, graph_id"],
    ],
    canShowIn: withJobs("notify"),
  },
];

export const plantedBugs: readonly PlantedBug[] = [
  ...leases,
  ...cancelling,
  ...committing,
  ...graphs,
  ...outbox,
];
