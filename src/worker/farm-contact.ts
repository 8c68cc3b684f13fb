import type { Logger } from "pino";
import { messageOf } from "#core/fault.ts";

/** Logs when the farm becomes unreachable for a worker, and logs once that it answers again. */
export class FarmContact {
  readonly #logger: Logger;
  /** Since when calls fail; undefined while the farm answers. */
  #awaySince: number | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  failed(reason: unknown, message: string): void {
    this.#awaySince ??= performance.now();
    this.#logger.warn({ reason: messageOf(reason) }, message);
  }

  answered(): void {
    if (this.#awaySince === undefined) return;
    const awayMs = Math.round(performance.now() - this.#awaySince);
    this.#awaySince = undefined;
    this.#logger.info({ awayMs }, "the farm answers again");
  }
}
