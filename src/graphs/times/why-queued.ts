import type { WaitingReason } from "#api/waiting.ts";
import { isolationOfProperty } from "#core/isolation-level.ts";
import { imagesOffer, serves } from "#core/platform.ts";
import { blockingReservation } from "#execution/claiming/blocking-reservation.ts";
import { greatestSizeClass, isServedBy } from "#execution/claiming/is-served-by.ts";
import type { QueuePosition } from "#execution/claiming/queue-position.store.ts";
import type { WorkerOffer } from "#execution/claiming/worker-offers.store.ts";
import { firstMissing } from "#execution/first-missing.ts";
import type { SeenOffer } from "#execution/submitting/queued-kinds.store.ts";
import { counted, inWhile, spanText } from "./waiting-words.ts";

type Leased = Extract<QueuePosition, { kind: "leased" }>;
type Queued = Extract<QueuePosition, { kind: "queued" }>;

/** The words for the waiting thing, and for the whole that it belongs to. */
export interface WaitingNames {
  readonly one: string;
  readonly whole: string;
  /** The advice for a job whose worker has gone. */
  readonly again: string;
}

const ofJobs: WaitingNames = {
  one: "job",
  whole: "graph",
  again: "cancel the job, and retrigger it",
};

/** Returns why an execution is not assigned: no worker can run it, others come first, or all workers are busy. */
export function whyQueued(
  position: QueuePosition,
  now: Date,
  names: WaitingNames = ofJobs,
  /** The offers of workers that may be started. */
  declared: readonly SeenOffer[] = [],
): WaitingReason {
  if (position.kind === "leased") return whyNotBegun(position, now, names);
  const alive = position.offers.filter(({ condition }) => condition === "alive");
  const able = alive.filter(({ platform }) => serves(platform, position.requirements));
  if (!able.some((offer) => isServedBy(position, offer))) {
    const startable = declared.filter((offer) => isServedBy(position, offer));
    if (startable.length > 0) return whyToBeStarted(startable);
  }
  if (able.length === 0) return whyNobody(position, alive, now, names);
  const suitable = able.filter((offer) => isServedBy(position, offer));
  if (suitable.length === 0) return whyTooSmall(position, able);
  const workers = numberOf(suitable);
  if (aheadOf(position) > 0) return whyOthersFirst(position, workers, names);
  if (suitable.some((offer) => offer.busy < offer.workers)) {
    return {
      kind: "starting",
      worker: null,
      sentence: "is next, and a worker is free",
      advice: null,
    };
  }
  return whyBusy(position, workers, now);
}

function whyNotBegun({ worker, away }: Leased, now: Date, { again }: WaitingNames): WaitingReason {
  if (away === undefined) {
    return {
      kind: "starting",
      worker,
      sentence: `was assigned to worker ${worker}, which is about to start it`,
      advice: null,
    };
  }
  const ago = spanText(Math.ceil((now.getTime() - away.lastSeenAt.getTime()) / 1_000));
  return {
    kind: "starting",
    worker,
    sentence: `was assigned to worker ${worker}, whose last message came ${ago} ago; when its lease ends, ${inWhile(away.leasedUntil, now)}, another one gets it`,
    advice: `if ${worker} will not return, start a worker with that name, and the job is free at once; or ${again}`,
  };
}

function whyToBeStarted(startable: readonly SeenOffer[]): WaitingReason {
  const least = Math.min(...startable.map(({ sizeClass }) => sizeClass));
  return {
    kind: "capacity-none",
    missing: null,
    silent: 0,
    draining: 0,
    lastSeenAt: null,
    sentence: `waits for a worker of size class ${least} to be started: the class is declared, and no worker of it is running`,
    advice: `see whether an autoscaler runs (grange autoscaling shows how many it should start), or start one: grange worker --size-class ${least}`,
  };
}

function numberOf(offers: readonly WorkerOffer[]): number {
  return offers.reduce((sum, { workers }) => sum + workers, 0);
}

function whyNobody(
  position: Queued,
  alive: readonly WorkerOffer[],
  now: Date,
  { one }: WaitingNames,
): WaitingReason {
  const away = position.offers.filter(
    (offer) => offer.condition !== "alive" && isServedBy(position, offer),
  );
  const silent = away.filter(({ condition }) => condition === "silent");
  const draining = away.filter(({ condition }) => condition === "draining");
  const lastSeen = away.map(({ lastSeenAt }) => lastSeenAt.getTime()).toSorted((a, b) => b - a)[0];
  const missing = firstMissing(
    position.requirements,
    alive.map(({ platform }) => platform),
  );
  const facts = {
    kind: "capacity-none" as const,
    missing: missing === undefined ? null : { ...missing, offered: [...missing.offered] },
    silent: numberOf(silent),
    draining: numberOf(draining),
    lastSeenAt: lastSeen === undefined ? null : new Date(lastSeen).toISOString(),
  };
  if (facts.silent > 0 && lastSeen !== undefined) {
    const ago = spanText(Math.ceil((now.getTime() - lastSeen) / 1_000));
    return {
      ...facts,
      sentence: `waits for a worker: ${counted(facts.silent, "worker")} could run it, and the last message of any came ${ago} ago`,
      advice: "see whether those workers run, and whether they reach the farm",
    };
  }
  const trouble = draining.find((offer) => offer.trouble !== null)?.trouble ?? undefined;
  if (facts.draining > 0 && trouble !== undefined) {
    return {
      ...facts,
      sentence: `waits for a worker: ${counted(facts.draining, "worker")} could run it, but ${facts.draining === 1 ? "runs" : "run"} nothing at present (${trouble})`,
      advice:
        "correct what the worker reports, and it continues by itself; or start another worker",
    };
  }
  if (facts.draining > 0) {
    return {
      ...facts,
      sentence: `waits for a worker: ${counted(facts.draining, "worker")} could run it, but ${facts.draining === 1 ? "takes" : "take"} nothing new`,
      advice: "start a worker like those that are being drained",
    };
  }
  const fenced = blockingReservation(
    position.requirements,
    alive.map(({ platform }) => platform),
  );
  if (fenced.length > 0) {
    return {
      ...facts,
      sentence: `waits for a worker: those that could run it accept only actions that ask for ${fenced.join(" or ")}`,
      advice: `ask for it under platform, or start a worker without --only-for`,
    };
  }
  if (missing === undefined) {
    return {
      ...facts,
      sentence: "waits for a worker: none is connected",
      advice: "start one: grange worker",
    };
  }
  const { property, asked, offered } = missing;
  const isolation = isolationOfProperty(property);
  if (isolation !== undefined) {
    return {
      ...facts,
      sentence: `waits for a worker with the isolation ${isolation}: none of ${counted(numberOf(alive), "worker")} stops all attacks of that level`,
      advice: `start a worker that does: the page of workers and grange doctor list under "not stopped" what each lacks (docs/workers.md); or lower the isolation that the ${one} requires`,
    };
  }
  if (property === imagesOffer) {
    return {
      ...facts,
      sentence: `waits for a worker that runs container images: none of ${counted(numberOf(alive), "worker")} does`,
      advice:
        "list the registries of its images with grange worker --registries, or GRANGE_WORKER_REGISTRIES; grange doctor says why a worker runs no images",
    };
  }
  return {
    ...facts,
    sentence: `waits for a worker with ${property}=${asked}: ${
      offered.length === 0
        ? `none of ${counted(numberOf(alive), "worker")} offers ${property}`
        : offered.includes(asked)
          ? "those with it lack something else that it asks for"
          : `workers offer ${property}=${offered.join(", ")}`
    }`,
    advice: `start a worker that offers ${property}=${asked}, or change what the ${one} asks for`,
  };
}

function whyTooSmall(
  { sizeClass, requirements }: Queued,
  able: readonly WorkerOffer[],
): WaitingReason {
  const greatest = Math.max(...able.map((offer) => offer.sizeClass));
  const workers = numberOf(able);
  const most = requirements[greatestSizeClass];
  if (most !== undefined) {
    const range = most === String(sizeClass) ? most : `${sizeClass} to ${most}`;
    const offered = [...new Set(able.map((offer) => String(offer.sizeClass)))].join(", ");
    return {
      kind: "capacity-size",
      asked: sizeClass,
      greatest,
      workers,
      sentence: `waits for a worker of size class ${range}: ${counted(workers, "worker")} could run it except for the size (${offered})`,
      advice: `start a worker of size class ${most}, or ask for another`,
    };
  }
  return {
    kind: "capacity-size",
    asked: sizeClass,
    greatest,
    workers,
    sentence: `waits for a worker of size class ${sizeClass} or more: ${counted(workers, "worker")} could run it except for the size, ${greatest} at most`,
    advice: `start a worker of size class ${sizeClass}, or ask for a smaller one`,
  };
}

function aheadOf({ ahead }: Queued): number {
  return ahead.top + ahead.sameInvocation + ahead.others;
}

function whyOthersFirst(position: Queued, workers: number, { whole }: WaitingNames): WaitingReason {
  const { ahead, share, isOverdue, isTop } = position;
  const parts = [
    ...(ahead.top > 0 ? [`${ahead.top.toLocaleString("en")} of the top class`] : []),
    ...(ahead.sameInvocation > 0
      ? [`${ahead.sameInvocation.toLocaleString("en")} of the same ${whole}`]
      : []),
    ...(ahead.others > 0 ? [`${ahead.others.toLocaleString("en")} of others`] : []),
  ];
  const total = `${ahead.isMore ? "at least" : "about"} ${aheadOf(position).toLocaleString("en")}`;
  const entitled = isTop
    ? "it is of the top class"
    : isOverdue
      ? "it has waited so long that only older ones go first"
      : `its ${whole}'s share is ${percent(share)}`;
  return {
    kind: "priority",
    ahead: {
      top: ahead.top,
      sameGraph: ahead.sameInvocation,
      others: ahead.others,
      isMore: ahead.isMore,
    },
    workers,
    share,
    sentence: `waits for its turn: ${total} ${aheadOf(position) === 1 ? "goes" : "go"} first (${parts.join(", ")}) on ${counted(workers, "worker")}; ${entitled}`,
    advice: isTop ? null : "a higher priority, or more workers, would start it sooner",
  };
}

function percent(share: number): string {
  return share < 0.01 ? "below 1 %" : `${Math.round(share * 100)} %`;
}

function whyBusy({ freeAt }: Queued, workers: number, now: Date): WaitingReason {
  const who =
    workers === 1
      ? "the one worker that could run it is busy"
      : `all ${workers} workers that could run it are busy`;
  return {
    kind: "capacity-busy",
    workers,
    freeAt: freeAt?.toISOString() ?? null,
    sentence:
      freeAt === undefined
        ? `is next: ${who}`
        : `is next: ${who}, the first is expected to be free ${inWhile(freeAt, now)}`,
    advice: "more such workers would start it sooner",
  };
}
