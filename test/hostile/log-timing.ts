import assert from "node:assert/strict";
import { printableLine, printableLog } from "#cli/terminal/printable-text.ts";
import { LogLines } from "../../web/pages/log/log-lines.ts";
import { plain } from "../../web/pages/log/style.ts";
import { tokenizeLine } from "../../web/pages/log/tokenize-line.ts";
import type { HostileCase } from "./case.ts";
import { type HostileFarm } from "./hostile-farm.ts";

const esc = "\u001b";
const bell = "\u0007";

/** Returns the ratio of the times for 4n and n, the best of some tries: linear is 4, quadratic 16. */
function growth(work: (times: number) => void, times: number): number {
  const best = (n: number) => {
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 4; round++) {
      const since = process.cpuUsage();
      work(n);
      const { user, system } = process.cpuUsage(since);
      least = Math.min(least, user + system);
    }
    return least;
  };
  work(times);
  return best(4 * times) / Math.max(1_000, best(times));
}

const sequences: Readonly<Record<string, string>> = {
  colours: `${esc}[3${1}mx`,
  "openings of titles": `${esc}]0;`,
  "openings of links and their ends": `${esc}]8;;http://a${bell}x`,
  "parameters without an end": `${esc}[1;`,
  "carriage returns": "12 %\r",
  "beginnings of addresses": "http://",
};

/** The time to judge and show a log is linear in its size. */
export const linear: readonly HostileCase<HostileFarm>[] = Object.entries(sequences).map(
  ([what, piece]) => ({
    name: `10^7 ${what} (10^5 in the short run) take linear time`,
    alone: true,
    async run({ full }) {
      const times = full ? 10_000_000 / 4 : 25_000;
      const ratio = growth((n) => {
        const lines = new LogLines();
        const part = piece.repeat(1_000);
        for (let done = 0; done < n; done += 1_000) lines.push(part);
        for (let n = 0; n < Math.min(lines.count, 50); n++)
          tokenizeLine(lines.at(n)?.raw ?? "", plain);
        printableLog(piece.repeat(n));
        printableLine(piece.repeat(n));
      }, times);
      assert(ratio < 10, `four times as much takes ${ratio.toFixed(2)} times as long`);
    },
  }),
);
