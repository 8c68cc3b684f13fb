import type { JobHolder } from "#api/collector.ts";
import { rest } from "#core/resting.ts";
import type { LabConnection } from "./lab-connection.ts";
import type { LabContact } from "./lab-contact.ts";
import { standingOf } from "./standing.ts";

/** Why the collector no longer has the job. */
type LossReason = "lost" | "cancelled";

/**
 * A job from its claim to its end: its lease is extended independently of other work.
 *
 * An outage of the server does not end it. Results are kept, and when the server responds again, either the lease is
 * still valid or the server reports that another collector has the job.
 */
export class HeldJob {
  readonly id: string;
  readonly holder: JobHolder;
  readonly #lab: LabConnection;
  readonly #contact: LabContact;
  readonly #over = new AbortController();
  readonly #lose = new AbortController();
  #gone: LossReason | undefined;
  readonly #beating: Promise<void>;

  constructor(
    id: string,
    holder: JobHolder,
    lab: LabConnection,
    contact: LabContact,
    heartbeatMs: number,
  ) {
    this.id = id;
    this.holder = holder;
    this.#lab = lab;
    this.#contact = contact;
    this.#beating = this.#beat(heartbeatMs);
  }

  /** Aborted when the job is lost. */
  get signal(): AbortSignal {
    return this.#lose.signal;
  }

  get gone(): LossReason | undefined {
    return this.#gone;
  }

  lose(gone: LossReason): void {
    this.#gone ??= gone;
    this.#lose.abort();
  }

  /** Stops the heartbeats. */
  async over(): Promise<void> {
    this.#over.abort();
    await this.#beating;
  }

  async #beat(heartbeatMs: number): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted && !this.#gone) {
      await rest(heartbeatMs, signal);
      if (signal.aborted) return;
      try {
        const { cancelled } = await this.#lab.heartbeat(this.id, { holder: this.holder }, signal);
        this.#contact.answered();
        if (cancelled) this.lose("cancelled");
      } catch (reason) {
        if (signal.aborted) return;
        if (standingOf(reason) === "lost") this.lose("lost");
        else this.#contact.failed(reason, "a heartbeat did not arrive");
      }
    }
  }
}
