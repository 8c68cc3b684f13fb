import { setImmediate as nextTurn } from "node:timers/promises";
import { digestKey } from "#core/digest.ts";
import { requestText } from "../farm/fetched-things.ts";
import type { FetchedThing, FetchRequest, GranaryFarm } from "../farm/granary-farm.ts";

const thingsATurn = 4;

interface PreloadedFarm extends Pick<GranaryFarm, "fetch"> {
  bring(things: readonly FetchedThing[]): void;
}

/**
 * A farm some of whose results are already local. They are returned first, once, and not requested. Other requests are
 * sent at the same time.
 */
export function preloadedFarm(farm: Pick<GranaryFarm, "fetch">): PreloadedFarm {
  const brought = new Map<string, FetchedThing[]>();

  function takeOf(requests: readonly FetchRequest[]) {
    const here: FetchedThing[] = [];
    const others = requests.filter((request) => {
      const things = brought.get(requestText(request));
      if (things === undefined) return true;
      here.push(...things);
      brought.delete(requestText(request));
      return false;
    });
    return { here, others };
  }

  return {
    bring(things) {
      for (const thing of things) {
        const name = nameOf(thing);
        brought.set(name, [...(brought.get(name) ?? []), thing]);
      }
    },

    async *fetch(project, requests, signal) {
      const { here, others } = takeOf(requests);
      if (others.length === 0) {
        yield* inTurns(here);
        return;
      }
      const coming = farm.fetch(project, others, signal)[Symbol.asyncIterator]();
      let next = coming.next();
      // It may fail while the local results are still being returned.
      next.catch(() => {});
      try {
        yield* inTurns(here);
        for (let one = await next; one.done !== true; one = await next) {
          yield one.value;
          next = coming.next();
        }
      } finally {
        await coming.return?.();
      }
    },
  };
}

/** Returns a few at a time, so that a build that waits for the first does not wait for all of them. */
async function* inTurns(things: readonly FetchedThing[]): AsyncGenerator<FetchedThing> {
  for (const [at, thing] of things.entries()) {
    if (at > 0 && at % thingsATurn === 0) await nextTurn();
    yield thing;
  }
}

function nameOf(thing: FetchedThing): string {
  switch (thing.kind) {
    case "result":
      return requestText({ kind: "result", key: thing.result });
    case "part":
      return `blob ${digestKey(thing.digest)}`;
    case "absent":
      return requestText(thing.request);
  }
}
