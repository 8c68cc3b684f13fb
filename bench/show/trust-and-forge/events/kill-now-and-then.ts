import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "#statistics/seeded-random.ts";
import type { Farm } from "../../../../test/support/farm.ts";

/** All kills are to hit events that come. */
const lastKillAt = 0.97;
const mostMsLater = 700;
/** On a machine that is slow to start servers, events wait for the start: else nobody lives to see them. */
const mostTurnsAhead = 30;

interface Killing {
  /** Of the turns, this one is over. */
  reached(turn: number): void;
  /** Resolves when events may go on: the server of that many turns ago lives. */
  mayGoOn(): Promise<void>;
  /** How often it was killed, once that is over. */
  readonly done: Promise<number>;
}

/** Kills the server in drawn turns, and starts it again each time. */
export function killNowAndThen(
  farm: Farm,
  { kills, turns, random }: { kills: number; turns: number; random: Random },
): Killing {
  const moments = Array.from({ length: kills }, () =>
    Math.floor(random() * turns * lastKillAt),
  ).toSorted((a, b) => a - b);
  let turn = 0;
  let killed = 0;
  const change = new EventTarget();
  const until = async (isSo: () => boolean) => {
    while (!isSo()) {
      await new Promise((resolve) => change.addEventListener("change", resolve, { once: true }));
    }
  };
  const kill = async () => {
    for (const moment of moments) {
      await until(() => turn >= moment);
      await sleep(random() * mostMsLater);
      farm.server.signal("SIGKILL");
      await farm.restartServer();
      killed += 1;
      change.dispatchEvent(new Event("change"));
    }
    return killed;
  };
  const done = kill();
  return {
    reached(now) {
      turn = now;
      change.dispatchEvent(new Event("change"));
    },
    async mayGoOn() {
      const isAlive = () =>
        moments.filter((moment) => moment <= turn - mostTurnsAhead).length <= killed;
      // A server that does not start ends it all.
      await Promise.race([until(isAlive), done]);
    },
    done,
  };
}
