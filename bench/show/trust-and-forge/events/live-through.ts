import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "#db/db.ts";
import { openPostgres } from "#db/postgres.ts";
import { seededRandom } from "#statistics/seeded-random.ts";
import { farmDatabaseUrl } from "../../../../test/support/farm-database-url.ts";
import { drawEffect } from "./draw-effect.ts";
import { askFarm, type FarmTold } from "./farm-told.ts";
import { killNowAndThen } from "./kill-now-and-then.ts";
import { faults, openWorld, type World } from "./open-world.ts";
import { standingRefs } from "./standing-refs.ts";
import { type Wrong, whatIsWrong } from "./what-is-wrong.ts";

export interface Plan {
  readonly events: number;
  readonly kills: number;
  readonly seed: number;
  /** The pause between two events. */
  readonly everyMs: number;
  /** The time after the faults within which the state must be correct. */
  readonly waitLimitMs: number;
}

export interface Lived {
  readonly effects: ReadonlyMap<string, number>;
  readonly killed: number;
  readonly eventsMs: number;
  /** From the end of the faults until the state was correct; undefined: it still is not. */
  readonly settledMs: number | undefined;
  readonly wrong: Wrong;
  readonly told: FarmTold;
  readonly world: Pick<World, "github" | "places">;
}

const lookEveryMs = 2_000;

/** Runs events and kills, ends the faults, and waits until the state is correct. */
export async function liveThrough<Answer>(
  plan: Plan,
  judge: (lived: Lived) => Answer,
): Promise<Answer> {
  const world = await openWorld(plan.seed);
  const { github, farm } = world;
  try {
    github.setFaults(faults);
    const begun = performance.now();
    const { effects, killed } = await happen(world, plan);
    const ended = performance.now();
    github.clearFaults();
    const db = openPostgres({ url: await farmDatabaseUrl(farm) });
    try {
      const { wrong, told, isSettled } = await untilNothingIsWrong(world, db, plan.waitLimitMs);
      return judge({
        effects,
        killed,
        eventsMs: ended - begun,
        settledMs: isSettled ? performance.now() - ended : undefined,
        wrong,
        told,
        world,
      });
    } finally {
      await db.close();
    }
  } finally {
    await world.stop();
  }
}

async function happen({ farm, places }: World, { events, kills, seed, everyMs }: Plan) {
  // The kills use their own random numbers, so that the duration of a start does not change people's actions.
  const random = seededRandom(seed);
  const chance = seededRandom(`kills of ${seed}`);
  const effects = new Map<string, number>();
  const killing = killNowAndThen(farm, { kills, turns: events, random: chance });
  let due = performance.now();
  for (let turn = 1; turn <= events; turn += 1) {
    const did = await drawEffect(places, random, turn);
    effects.set(did, (effects.get(did) ?? 0) + 1);
    killing.reached(turn);
    await killing.mayGoOn();
    due = Math.max(due + everyMs, performance.now());
    await sleep(due - performance.now());
  }
  return { effects, killed: await killing.done };
}

async function untilNothingIsWrong(world: World, db: Db, waitLimitMs: number) {
  const { farm, places, github } = world;
  const slugs = places.map(({ repository }) => repository.slug);
  const giveUpAt = performance.now() + waitLimitMs;
  for (;;) {
    const told = await askFarm(farm, db, slugs);
    const refs = new Map(
      await Promise.all(
        places.map(
          async ({ repository: { slug, path } }) => [slug, await standingRefs(path)] as const,
        ),
      ),
    );
    const wrong = whatIsWrong(places, refs, told, github);
    const isSettled = Object.values(wrong).every((broken: string[]) => broken.length === 0);
    if (isSettled || performance.now() > giveUpAt) return { told, wrong, isSettled };
    progress(wrong);
    await sleep(lookEveryMs);
  }
}

function progress(wrong: Wrong): void {
  const counts = Object.entries(wrong).filter(([, broken]: [string, string[]]) => broken.length);
  const text = counts.map(([name, broken]: [string, string[]]) => `${name} ${broken.length}`);
  process.stderr.write(`  still wrong: ${text.join(", ")}\n`);
}
