import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "#statistics/seeded-random.ts";
import type { Farm } from "../../../../test/support/farm.ts";

/** All kills must happen while events arrive. */
const lastKillAt = 0.97;
const mostMsLater = 700;
/**
 * On a machine that starts servers slowly, events wait for the start; otherwise no server would be running for them.
 */
const mostTurnsAhead = 30;

interface Killing {
  /** Reports that this turn has ended. */
  reached(turn: number): void;
  /** Resolves when events may continue: the server of that many turns ago runs. */
  mayGoOn(): Promise<void>;
  /** Resolves at the end with the number of kills. */
  readonly done: Promise<number>;
}

/** Kills the server in random turns, and restarts it each time. */
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
      // A server that does not start ends the whole run.
      await Promise.race([until(isAlive), done]);
    },
    done,
  };
}
