import { startLightWorkers } from "./light-workers.ts";
import { type News, Order } from "./light-workers-messages.ts";
import { monotonicMs } from "./monotonic-ms.ts";

/** Runs light workers until it is killed. */
process.once("message", (message) => {
  const { servers, count, prefix } = Order.parse(message);
  const tell = (news: News) => void process.send?.(news);
  const begun = performance.now();
  startLightWorkers(servers, count, { prefix }).then(
    (workers) => {
      workers.onClaimed = (hash, waitedMs) =>
        tell({ kind: "claimed", hash, waitedMs, atMs: monotonicMs() });
      tell({ kind: "registered", ms: performance.now() - begun });
    },
    (reason: unknown) => tell({ kind: "failed", why: String(reason) }),
  );
});
