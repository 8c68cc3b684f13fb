import type { BlobStore } from "#cas/blob-store.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import type { Digest } from "#core/digest.ts";
import { digestKey } from "#core/digest.ts";
import { HistoryChecker, type Observation, type Violation } from "../faults/history/history.ts";
import type { EventLoop } from "./event-loop.ts";
import { Network, type Place } from "./network.ts";
import type { PlantedBug } from "./planted-bugs.ts";
import type { Behaviour, Scenario } from "./scenario.ts";
import type { RunningServer } from "./server.ts";
import type { SimulatedDatabase } from "./simulated-database.ts";

/** What an action is, for the workers that execute it. */
export interface SimulatedAction {
  readonly behaviour: Behaviour;
  /** The job of a graph, or of several graphs that share it. */
  readonly jobs: readonly { readonly graph: string; readonly job: string }[];
}

/** A simulated farm: what its processes share, and what its clients have seen. */
export class World {
  readonly loop: EventLoop;
  readonly database: SimulatedDatabase;
  readonly scenario: Scenario;
  readonly network: Network;
  readonly bug: PlantedBug | undefined;
  readonly servers: readonly Place<RunningServer>[];
  /** The store of blobs, which loses nothing. */
  readonly store: BlobStore = memoryBlobStore();
  readonly actions = new Map<string, SimulatedAction>();
  readonly violations: Violation[] = [];
  /** What clients still wait for. */
  open = 0;
  areFaultsOver = false;
  readonly #checker: HistoryChecker;
  readonly #asked = new Map<string, number>();

  constructor(
    loop: EventLoop,
    database: SimulatedDatabase,
    scenario: Scenario,
    bug: PlantedBug | undefined,
  ) {
    this.loop = loop;
    this.database = database;
    this.scenario = scenario;
    this.bug = bug;
    this.network = new Network(loop, scenario.faults);
    this.servers = Array.from({ length: scenario.servers }, (_, n) => ({
      name: `server-${n}`,
      running: undefined,
    }));
    const { leaseMs = 15_000, mostAttempts = 5 } = scenario.times;
    this.#checker = new HistoryChecker({
      leaseMs,
      mostAttempts,
      sizeRetries: scenario.isSized ? 1 : 0,
    });
  }

  /** How often a graph was asked to run again, or to end. */
  timesAsked(graph: string): number {
    return this.#asked.get(graph) ?? 0;
  }

  /** Judges what a client, a worker or a receiver has seen, at once. */
  observe(seen: Observation): void {
    if (seen.kind === "asked") this.#asked.set(seen.graph, this.timesAsked(seen.graph) + 1);
    this.loop.trace(`saw ${JSON.stringify(seen)}`);
    this.#broken(this.#checker.observe(seen));
  }

  /** Judges what was never seen. */
  finish(): void {
    this.#broken(this.#checker.end());
  }

  /** Reports something that must never happen and that no client sees. */
  broken(violation: Violation): void {
    this.#broken([violation]);
  }

  knowAction(digest: Digest, action: SimulatedAction): void {
    this.actions.set(digestKey(digest), action);
  }

  anyServer(): Place<RunningServer> {
    return this.loop.random.pick(this.servers);
  }

  #broken(violations: readonly Violation[]): void {
    for (const each of violations) {
      this.loop.trace(`VIOLATION ${JSON.stringify(each)}`);
      this.violations.push(each);
    }
  }
}

/** Repeats a call until it succeeds, with growing pauses, as every client of the farm does. */
export async function untilAnswered<T>(
  loop: EventLoop,
  call: () => Promise<T>,
  goOn: (reason: unknown) => boolean = () => true,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await call();
    } catch (reason) {
      if (!goOn(reason)) throw reason;
      await loop.sleep(Math.min(2_000, 100 * 2 ** tries) * (0.5 + loop.random.next()));
    }
  }
}
