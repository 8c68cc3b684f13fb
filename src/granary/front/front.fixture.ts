import { onTestFinished } from "vitest";
import { openDiskUploads } from "#cas/disk/disk-uploads.ts";
import type { Build } from "../builds/build.ts";
import type { FakeFarm } from "../farm/fake-farm.fixture.ts";
import type { Relay } from "../farm/relay.ts";
import { silentLogger } from "../store/granary-store.fixture.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import { smallAtOnce } from "../store/small-uploads.ts";
import { fakeService } from "../tiered-cache/fake-build.fixture.ts";
import type { Stand } from "../tiered-cache/tiered-cache.fixture.ts";
import { openFront } from "./listen.ts";

interface FrontState {
  readonly port: number;
  readonly url: string;
}

/** Opens the port for tools over a tiered cache, for the running builds. */
export async function frontOver(
  stand: Pick<Stand, "tieredCache" | "directory"> & { readonly store: GranaryStore },
  options: {
    readonly builds?: readonly Build[];
    readonly relay?: Relay;
    readonly mostEntryBytes?: number;
  } = {},
): Promise<FrontState> {
  const front = await openFront({
    port: 0,
    tieredCache: stand.tieredCache,
    store: stand.store,
    uploads: smallAtOnce(
      await openDiskUploads(stand.directory, stand.store.blobs),
      stand.store.blobs,
    ),
    builds: fakeService(options.builds ?? []),
    relay: options.relay,
    mostEntryBytes: options.mostEntryBytes ?? 64 * 1024 * 1024,
    logger: silentLogger,
  });
  onTestFinished(() => front.stop());
  return { port: front.port, url: `http://127.0.0.1:${front.port}` };
}

/** Sends results to the farm like an outbox, blobs first. */
export async function sendAll({ outbox, store }: Stand, fake: FakeFarm): Promise<void> {
  for (const result of outbox) {
    for (const digest of [result.value, ...result.blobs]) {
      const bytes = await store.blobs.get(digest);
      if (bytes !== undefined) await fake.blobs.put(digest, bytes);
    }
    const { project, namespace, key } = result;
    fake.results.set(`${project} ${namespace} ${key}`, result);
  }
}
