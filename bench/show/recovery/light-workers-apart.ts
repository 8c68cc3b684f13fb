import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { News, type Order } from "./light-workers-messages.ts";

/** Light workers in processes of their own, so that they do not delay the client whose calls are measured. */
interface LightWorkersApart {
  /** Called with each execution when it reaches its worker, and the time by `monotonicMs`. */
  onClaimed: (actionHash: string, atMs: number) => void;
  /** How long their registration took, in ms. */
  readonly registeredMs: number;
  stop(): Promise<void>;
}

const program = join(import.meta.dirname, "light-workers-program.ts");

/** Starts `count` workers in `processes` processes, and resolves when all are registered. */
export async function startLightWorkersApart(
  servers: readonly string[],
  count: number,
  processes: number,
): Promise<LightWorkersApart> {
  const children = Array.from({ length: processes }, () => fork(program));
  const ended = children.map((child) => once(child, "exit"));
  const workers = {
    onClaimed: (_hash: string, _atMs: number) => {},
    registeredMs: 0,
    async stop() {
      for (const child of children) child.kill("SIGKILL");
      await Promise.all(ended);
    },
  };
  const registered = children.map(
    (child, n) =>
      new Promise<number>((resolve, reject) => {
        child.once("exit", () => reject(new Error("a process of light workers has ended")));
        child.on("message", (message) => {
          const news = News.parse(message);
          if (news.kind === "registered") resolve(news.ms);
          else if (news.kind === "failed") reject(new Error(news.why));
          else workers.onClaimed(news.hash, news.atMs);
        });
        const share = Math.floor(count / processes) + (n < count % processes ? 1 : 0);
        const order: Order = { servers: [...servers], count: share, prefix: `light-${n}` };
        child.send(order);
      }),
  );
  try {
    workers.registeredMs = Math.max(...(await Promise.all(registered)));
  } catch (reason) {
    await workers.stop();
    throw reason;
  }
  return workers;
}
