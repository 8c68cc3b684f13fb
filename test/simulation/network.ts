import { Fault } from "#core/fault.ts";
import type { EventLoop, SimulatedProcess } from "./event-loop.ts";
import type { PlannedFaults } from "./scenario.ts";

/** Where a process is reached: whoever runs there at the moment a message arrives. */
export interface Place<Running> {
  readonly name: string;
  running: { readonly process: SimulatedProcess; readonly service: Running } | undefined;
}

/** Delivers calls and answers: late, in another order, twice, or not at all. */
export class Network {
  readonly #loop: EventLoop;
  #faults: PlannedFaults | undefined;
  /** Directions in which nothing arrives until a time; by the names of machines. */
  readonly #cut = new Map<string, number>();

  constructor(loop: EventLoop, faults: PlannedFaults) {
    this.#loop = loop;
    this.#faults = faults;
  }

  /** Nothing is delivered from one machine to another for some time. */
  cut(from: string, to: string, ms: number): void {
    this.#loop.trace(`no messages from ${from} to ${to} for ${ms} ms`);
    this.#cut.set(`${from} ${to}`, this.#loop.nowMs + ms);
  }

  heal(): void {
    this.#faults = undefined;
    this.#cut.clear();
  }

  /**
   * Calls the process at a place.
   *
   * Rejects with `unavailable` when nobody is there or no answer comes in time; the call may have had its effect.
   */
  call<Running, T>(
    place: Place<Running>,
    timeoutMs: number,
    serve: (service: Running, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const loop = this.#loop;
    const from = loop.current;
    const ended = new AbortController();
    return new Promise<T>((resolve, reject) => {
      let isOver = false;
      const answer = (settle: () => void) => {
        if (isOver) return;
        isOver = true;
        loop.cancel(timer);
        settle();
      };
      const back = (settle: () => void) => {
        if (!this.#isLost(place.name, from.name))
          loop.after(this.#delayMs(), () => answer(settle), from);
      };
      const timer = loop.after(
        timeoutMs,
        () => {
          answer(() => reject(new Fault("unavailable", `${place.name} does not answer`)));
          // The server notices that nobody listens any more, or it does not.
          if (place.running !== undefined && loop.random.chance(0.6))
            loop.after(this.#delayMs(), () => ended.abort(), place.running.process);
        },
        from,
      );
      const copies = loop.random.chance(this.#faults?.doubledMessage ?? 0) ? 2 : 1;
      for (let copy = 0; copy < copies; copy++) {
        if (this.#isLost(from.name, place.name)) continue;
        const arrive = () => {
          const { running } = place;
          if (running?.process.isAlive !== true) {
            back(() => reject(new Fault("unavailable", `nobody listens at ${place.name}`)));
            return;
          }
          const begin = () => {
            serve(running.service, ended.signal).then(
              (value) => back(() => resolve(value)),
              (reason: unknown) => back(() => reject(reason)),
            );
          };
          loop.after(0, begin, running.process);
        };
        loop.after(this.#delayMs(), arrive, loop.world);
      }
    });
  }

  #isLost(from: string, to: string): boolean {
    const until = this.#cut.get(`${machineOf(from)} ${machineOf(to)}`);
    if (until !== undefined && until > this.#loop.nowMs) return true;
    return this.#loop.random.chance(this.#faults?.lostMessage ?? 0);
  }

  #delayMs(): number {
    const { random } = this.#loop;
    if (random.chance(this.#faults?.slowMessage ?? 0)) return random.next() * 4_000;
    return 0.2 + random.next() * 20;
  }
}

/** Processes of a machine are called NAME#COUNT. */
function machineOf(process: string): string {
  return process.split("#")[0] ?? process;
}
