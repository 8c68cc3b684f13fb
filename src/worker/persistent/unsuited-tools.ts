import { recentlyUsed } from "#core/recently-used.ts";

/** So many actions in succession must have succeeded alone after their process failed. */
const failuresInSuccession = 3;
/** After this time, a tool is tried again: what it lacked may have been due to some of its actions only. In ms. */
const triedAgainAfterMs = 10 * 60_000;
/** Each takes some hundred bytes. */
const mostTools = 1_000;

interface Failures {
  readonly count: number;
  readonly lastMs: number;
}

/**
 * The tools whose processes fail for actions that succeed alone, for example because the tool writes in the root of its
 * inputs. Each such action takes the time of two, so after a few of them the tool is left alone for some minutes.
 */
export class UnsuitedTools {
  readonly #failures = recentlyUsed<Failures>(mostTools);
  readonly #nowMs: () => number;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** An action of the tool has succeeded alone, after a process had failed for it. */
  failed(tool: string): void {
    const count = (this.#failures.peek(tool)?.count ?? 0) + 1;
    this.#failures.set(tool, { count, lastMs: this.#nowMs() });
  }

  /** A process of the tool has served an action. */
  served(tool: string): void {
    this.#failures.forget(tool);
  }

  isUnsuited(tool: string): boolean {
    const failures = this.#failures.peek(tool);
    if (failures === undefined || failures.count < failuresInSuccession) return false;
    return this.#nowMs() - failures.lastMs < triedAgainAfterMs;
  }
}
