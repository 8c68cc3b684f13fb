import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { messageOf } from "#core/fault.ts";
import { readableDomains } from "#core/readable-domains.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import type { ExecutionId, ExecutionRequest } from "#execution/execution.ts";
import type { RequestedSizeClasses } from "#execution/sizing/requested-size-classes.ts";
import type { Analyzer, Learner, Selector } from "#execution/sizing/size-class-roles.ts";
import { sizedExecution } from "#execution/sizing/size-decision.store.ts";
import { emptyHistory } from "./add-runs.ts";
import { strategyOf } from "./choose-strategy.ts";
import { chosenSize } from "./chosen-size.ts";
import { drawOf } from "./draw.ts";
import { joinedHistory } from "./joined-history.ts";
import { type KeyName, nameOf, readHistories } from "./key-history.store.ts";
import type { KeyHistory } from "./key-history.ts";
import { learnerOf } from "./learner.ts";
import type { OfferedClasses } from "./offered-classes.ts";
import { openClasses } from "./open-classes.ts";
import type { SizeClassSettings } from "./settings.ts";
import type { OfferedClass, Strategy } from "./strategy.ts";

/**
 * Returns the farm's analyzer, which chooses size classes by the statistics of earlier executions.
 *
 * For a platform with one size class, as in most small farms, it reads and chooses nothing.
 */
export function sizeClassAnalyzer(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly offers: Pick<OfferedClasses, "for" | "freshen" | "ageMs">;
  readonly settings: () => SizeClassSettings;
}): Analyzer {
  const { db, clock, logger, offers, settings } = parts;

  /** Returns undefined when the database fails: executions then continue as if no similar action had run before. */
  const histories = async (keys: readonly KeyName[]) => {
    try {
      return await readHistories(db, keys);
    } catch (reason) {
      logger.warn({ reason: messageOf(reason) }, "the statistics of size classes cannot be read");
      return undefined;
    }
  };

  const offered = async (requests: readonly ExecutionRequest[]) => {
    const read = () =>
      requests.map((request) =>
        openClasses(
          offers.for(request.platform),
          requestedOf(request),
          request.platform,
          offers.ageMs(),
        ),
      );
    const before = read();
    if (before.every(({ classes }) => classes.length === 1)) return before;
    await offers.freshen();
    return read();
  };

  return {
    get learnsFromSuccess() {
      return settings().strategy === "pagerank";
    },

    async analyze(requests) {
      const classesOf = await offered(requests);
      const open = requests.filter((_, i) => classesOf[i]?.isOpen);
      if (open.length === 0) return requests.map(() => nothingToChoose);
      const names = new Map(
        open
          .flatMap(keysOf)
          .flatMap(readableOf)
          .map((name) => [nameOf(name), name]),
      );
      const known = await histories([...names.values()]);
      const strategy = strategyOf(settings());
      const now = clock.now();
      return requests.map((request, i): Selector => {
        const { isOpen = false, classes = [] } = classesOf[i] ?? {};
        if (!isOpen) return nothingToChoose;
        return {
          select: () => selectSize(request, classes, strategy, known, now),
        };
      });
    },

    async learner(id: ExecutionId): Promise<Learner | undefined> {
      try {
        const execution = await sizedExecution(db, id);
        const [first] = execution?.decisions ?? [];
        if (execution === undefined || first === undefined) return undefined;
        const classes = openClasses(
          offers.for(execution.requirements),
          execution.asked,
          {},
          offers.ageMs(),
        ).classes;
        const { project, domain } = execution;
        const names = execution.similarityKeys.map((key) => ({ project, domain, key }));
        const known = await histories(names.flatMap(readableOf));
        return learnerOf({
          execution,
          first,
          classes,
          histories: historiesOf(names, known),
          settings: settings(),
          now: clock.now(),
        });
      } catch (reason) {
        logger.warn(
          { execution: id, reason: messageOf(reason) },
          "the size-class decisions cannot be read; the outcome of an execution is used unchanged",
        );
        return undefined;
      }
    },
  };
}

/** Returns the size class that a strategy chooses. `known`: undefined when the statistics could not be read. */
function selectSize(
  request: ExecutionRequest,
  classes: readonly OfferedClass[],
  strategy: Strategy,
  known: ReadonlyMap<string, KeyHistory> | undefined,
  now: Date,
) {
  const draw = drawOf(request.id, 1);
  const choice = strategy.choose({
    histories: historiesOf(keysOf(request), known),
    classes,
    timeoutMs: request.timeoutMs,
    now: now.getTime(),
    draw,
  });
  const reason =
    known === undefined
      ? { kind: "no-statistics", text: `the statistics could not be read; ${choice.reason.text}` }
      : choice.reason;
  return chosenSize(choice, {
    key: request.similarityKeys?.[0] ?? "",
    strategy: strategy.name,
    draw,
    decidedAt: now,
    reason,
  });
}

const nothingToChoose: Selector = { select: () => undefined };

function requestedOf({ sizeClass, mostSizeClass }: ExecutionRequest): RequestedSizeClasses {
  return { least: sizeClass, most: mostSizeClass };
}

/** A key in the domain of its execution. */
interface OwnKey extends KeyName {
  readonly domain: TrustDomain;
}

function keysOf({ project, domain, similarityKeys = [] }: ExecutionRequest): OwnKey[] {
  return similarityKeys.map((key) => ({ project, domain, key }));
}

/** Returns the key in all domains from which its execution may learn; its own domain first. */
function readableOf({ domain, ...name }: OwnKey): KeyName[] {
  return readableDomains(domain).map((readable) => ({ ...name, domain: readable }));
}

function historiesOf(
  names: readonly OwnKey[],
  known: ReadonlyMap<string, KeyHistory> | undefined,
): KeyHistory[] {
  return names.map((name) => {
    const [own, shared] = readableOf(name).map((readable) => known?.get(nameOf(readable)));
    return joinedHistory(own, shared) ?? emptyHistory(name.key);
  });
}
