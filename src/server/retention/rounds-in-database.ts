import { randomUUID } from "node:crypto";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import {
  readRoundNotes,
  releaseRound,
  renewRound,
  renewRoundMs,
  takeRound,
  writeRoundNotes,
} from "./store-round.store.ts";
import type { RoundPlace } from "./store-rounds.ts";

/**
 * Rounds of which one server of the farm does one at a time, although the servers share no directory: the right to a
 * round is a lease in the database, and so are the notes.
 */
export function roundsInDatabase(db: Tx): RoundPlace {
  const self = randomUUID();
  return {
    async take(name) {
      if (!(await takeRound(db, name, self))) return undefined;
      const losing = new AbortController();
      const renewal = setInterval(() => {
        renewRound(db, name, self).then(
          (isOurs) => {
            if (!isOurs) losing.abort("another server has the round");
          },
          // The next renewal comes before the right ends, or finds that it has.
          () => {},
        );
      }, renewRoundMs).unref();
      return {
        lost: losing.signal,
        async release() {
          clearInterval(renewal);
          await releaseRound(db, name, self);
        },
      };
    },

    notes: (name, shape, initial) => ({
      read: async () => shape.safeParse(await readRoundNotes(db, name)).data ?? initial,
      async write(noted) {
        if (await writeRoundNotes(db, name, self, noted)) return;
        throw new Fault("aborted", `another server does the round ${name} meanwhile`);
      },
    }),
  };
}
