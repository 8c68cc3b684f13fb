import type { Violation } from "../faults/history/history.ts";
import { startClient, startGraphClient } from "./clients.ts";
import { EventLoop } from "./event-loop.ts";
import type { PlantedBug } from "./planted-bugs.ts";
import { recoveryMs, type Scenario, scenarioOf } from "./scenario.ts";
import { killServer, serverDied, startServer } from "./server.ts";
import { type CommitFault, type DatabaseFaults, SimulatedDatabase } from "./simulated-database.ts";
import { simulateRandomness, simulateTime } from "./simulated-host.ts";
import { SimulatedWorker } from "./worker.ts";
import { World } from "./world.ts";

/** What came of one seed. */
export interface Simulated {
  readonly seed: number;
  readonly violations: readonly Violation[];
  /** The same whenever the same seed is run. */
  readonly digest: string;
  readonly steps: number;
  /** How long the farm's time was, in ms. */
  readonly simulatedMs: number;
  /** How often each part of the planted bug's statements was changed. */
  readonly changed: readonly number[];
}

export interface Simulator {
  run(seed: number, bug?: PlantedBug, onTrace?: (line: string) => void): Promise<Simulated>;
}

/** So many seeds run most statements that any seed runs. */
const plannedSeeds = 8;

/** Makes this process a simulator. It can do nothing else from then on: see `simulateHost`. */
export async function openSimulator(): Promise<Simulator> {
  let loop = new EventLoop(0);
  simulateRandomness(() => loop);
  const database = await SimulatedDatabase.open();
  simulateTime(() => loop);
  // What they run is planned for all later seeds. Each aim and kind of scenario is among them.
  for (let seed = 0; seed < plannedSeeds; seed++) {
    loop = new EventLoop(seed);
    await simulate(loop, database, scenarioOf(seed), undefined);
  }
  database.keepPlans();
  return {
    async run(seed, bug, onTrace) {
      loop = new EventLoop(seed, onTrace);
      return simulate(loop, database, scenarioOf(seed), bug);
    },
  };
}

async function simulate(
  loop: EventLoop,
  database: SimulatedDatabase,
  scenario: Scenario,
  bug: PlantedBug | undefined,
): Promise<Simulated> {
  loop.trace(JSON.stringify(scenario));
  const world = new World(loop, database, scenario, bug);
  const changed = (bug?.statements ?? []).map(() => 0);
  database.begin(loop, databaseFaults(world), {
    rewrite: (text) => rewrite(text, bug, changed),
    ...(bug?.acknowledgesEarly === true ? { acknowledgesEarly: true } : {}),
  });
  for (const place of world.servers) startServer(world, place, 0);
  const workers = scenario.workers.map((planned) => new SimulatedWorker(world, planned));
  for (const worker of workers) worker.start();
  scenario.requests.forEach((planned, n) => startClient(world, planned, n));
  scenario.graphs.forEach((planned, n) => startGraphClient(world, planned, n));

  // First faults, in which nothing may be wrong; then none, after which all must end.
  planFaults(world, workers);
  const isBroken = () => world.violations.length > 0;
  const faultsOverMs = loop.nowMs + scenario.faultMs;
  await loop.run(isBroken, faultsOverMs);
  world.areFaultsOver = true;
  world.network.heal();
  database.heal();
  loop.trace("faults are over");
  const isOver = await loop.run(() => isBroken() || world.open === 0, faultsOverMs + recoveryMs);
  if (!isOver)
    world.broken({ promise: "P8", subject: "", what: `${world.open} clients still wait` });
  else if (!isBroken()) world.finish();
  return {
    seed: scenario.seed,
    violations: world.violations,
    digest: loop.digest(),
    steps: loop.steps,
    simulatedMs: loop.nowMs - loop.startedMs,
    changed,
  };
}

function rewrite(text: string, bug: PlantedBug | undefined, changed: number[]): string {
  let result = text;
  bug?.statements?.forEach(([part, by], at) => {
    const next = result.replace(part, by);
    if (next !== result) changed[at] = (changed[at] ?? 0) + 1;
    result = next;
  });
  return result;
}

function databaseFaults(world: World): DatabaseFaults {
  const { loop, scenario } = world;
  const { random } = loop;
  const { commitFault, statementFault, lostNotification, slowStatement } = scenario.faults;
  const kinds: readonly CommitFault[] = [
    "crash before",
    "crash after",
    "lost before",
    "lost after",
  ];
  return {
    atCommit: () => (random.chance(commitFault) ? random.pick(kinds) : "none"),
    atStatement: () =>
      random.chance(statementFault) ? random.pick(["deadlock", "lost"] as const) : "none",
    latencyMs: () =>
      random.chance(world.areFaultsOver ? 0 : slowStatement)
        ? random.next() * 400
        : 0.1 + random.next() * 2,
    notificationMs: () => (random.chance(lostNotification) ? undefined : random.next() * 5),
    killed: (process) => serverDied(world, process),
  };
}

/** Crashes, stops and partitions at random times until the faults are over. */
function planFaults(world: World, workers: readonly SimulatedWorker[]): void {
  const { loop, scenario } = world;
  const { random } = loop;
  const kinds = [
    "server",
    "worker",
    "stop server",
    "stop worker",
    "cut",
    "cut",
    "one way",
  ] as const;
  const machines = [...scenario.workers, ...world.servers].map(({ name }) => name);
  const next = () => {
    if (world.areFaultsOver) return;
    const place = random.pick(world.servers);
    const worker = random.pick(workers);
    const ms = random.integer(200, 9_000);
    switch (random.pick(kinds)) {
      case "server":
        killServer(world, place);
        break;
      case "worker":
        worker.kill();
        break;
      case "stop server":
        stop(world, place.running?.process, ms);
        break;
      case "stop worker":
        stop(world, worker.process, ms);
        break;
      case "cut":
        world.network.cut(worker.name, place.name, ms);
        world.network.cut(place.name, worker.name, ms);
        break;
      case "one way":
        world.network.cut(random.pick(machines), random.pick(machines), ms);
        break;
    }
    loop.after(random.next() * 2 * scenario.faults.betweenMs, next, loop.world);
  };
  loop.after(random.next() * 2 * scenario.faults.betweenMs, next, loop.world);
}

/** Stops a process as SIGSTOP does; not while it has the only connection of the database. */
function stop(
  world: World,
  process: NonNullable<World["servers"][0]["running"]>["process"] | undefined,
  ms: number,
): void {
  if (process === undefined || world.database.isHeldBy(process)) return;
  world.loop.trace(`${process.name} is stopped for ${ms} ms`);
  process.stoppedUntilMs = world.loop.nowMs + ms;
}
