import type { BlobReceiver } from "#images/blob-progress.ts";
import type { LayerIndex } from "./layer-index.ts";
import { type LayerLimits, readLayer } from "./read-layer.ts";

/** Parts that have arrived and are not unpacked yet; a part of HTTP has at most 64 KiB. */
const mostWaitingParts = 32;

/** Unpacks a layer into an empty directory while it arrives, as `readLayer` does. */
export function receiveLayer(directory: string, limits: LayerLimits): BlobReceiver<LayerIndex> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(
    undefined,
    new CountQueuingStrategy({ highWaterMark: mostWaitingParts }),
  );
  const writer = writable.getWriter();
  const reading = readLayer(readable, directory, limits);
  // They fail together with `reading`, which is awaited.
  writer.closed.catch(() => {});
  reading.catch(() => {});
  const give = async (giving: Promise<void>): Promise<void> => {
    try {
      await giving;
    } catch (reason) {
      // The reader has stopped before the end: its reason is the cause.
      await reading;
      throw reason;
    }
  };
  return {
    async write(part) {
      await give(writer.ready);
      writer.write(part).catch(() => {});
    },
    async end() {
      await give(writer.close());
      return reading;
    },
    async abandon() {
      await writer.abort(new Error("the rest of the layer did not arrive")).catch(() => {});
      await reading.catch(() => {});
    },
  };
}
