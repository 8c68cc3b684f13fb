import { onTestFinished } from "vitest";
import type { Divergence } from "#api/granary.ts";
import type { Service } from "#core/service.ts";
import { type SlowLine, slowLine } from "../../../test/support/slow-line.ts";
import { type ConnectedFarm, connectGranaryFarm } from "../farm/connect-granary-farm.ts";
import { type FakeFarm, fakeFarm } from "../farm/fake-farm.fixture.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import type { GranaryResult } from "../granary-result.ts";
import { freshStore, silentLogger } from "../store/granary-store.fixture.ts";
import type { OpenGranaryStore } from "../store/open-granary-store.ts";
import { openTieredCache } from "./open-tiered-cache.ts";
import type { TieredCache } from "./tiered-cache.ts";

export interface Stand {
  readonly tieredCache: TieredCache & Service;
  readonly store: OpenGranaryStore;
  readonly directory: string;
  readonly outbox: GranaryResult[];
  readonly divergences: Divergence[];
}

/** Opens a tiered cache over a real store and any farm, with a list in place of an outbox. */
export async function openCacheWith(farm: GranaryFarm, crossCheckShare = 0): Promise<Stand> {
  const { store, directory } = await freshStore();
  const outbox: GranaryResult[] = [];
  const divergences: Divergence[] = [];
  const tieredCache = openTieredCache({
    store,
    outbox: {
      addResult: async (result) => void outbox.push(result),
      addDivergence: async (_, divergence) => void divergences.push(divergence),
    },
    farm,
    crossCheckShare,
    machine: "this one",
    logger: silentLogger,
  });
  onTestFinished(() => tieredCache.stop());
  return { tieredCache, store, directory, outbox, divergences };
}

export interface FarmStand extends Stand {
  readonly fake: FakeFarm;
  readonly farm: ConnectedFarm;
  readonly line: SlowLine;
}

/** The same for a farm behind a line that can be cut. */
export async function openCacheBehindLine(
  options: { readonly roundTripMs?: number; readonly crossCheckShare?: number } = {},
): Promise<FarmStand> {
  const fake = await fakeFarm();
  const line = await slowLine(fake.port, { roundTripMs: options.roundTripMs ?? 0 });
  onTestFinished(() => line.close());
  const server = `http://127.0.0.1:${line.port}`;
  const farm = connectGranaryFarm({ server, token: undefined, ca: undefined }, silentLogger);
  onTestFinished(() => farm.stop());
  return { ...(await openCacheWith(farm, options.crossCheckShare)), fake, farm, line };
}
