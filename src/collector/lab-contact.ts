import type { Logger } from "pino";
import { messageOf } from "#core/fault.ts";

/** Logs once that the server is unreachable, and once that it responds again. */
export class LabContact {
  readonly #logger: Logger;
  #awaySince: number | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  failed(reason: unknown, message: string): void {
    const level = this.#awaySince === undefined ? "warn" : "debug";
    this.#awaySince ??= performance.now();
    this.#logger[level]({ reason: messageOf(reason) }, message);
  }

  answered(): void {
    if (this.#awaySince === undefined) return;
    const awayMs = Math.round(performance.now() - this.#awaySince);
    this.#awaySince = undefined;
    this.#logger.info({ awayMs }, "the server answers again");
  }
}
