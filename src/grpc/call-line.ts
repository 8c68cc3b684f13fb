import { setImmediate } from "node:timers";
import { isAnotherOwnerWaiting } from "#scheduling/take-turns.ts";

/** A small call takes about a dozen steps, each in its own round of the event loop. */
const roundsOfACall = 12;

/**
 * The calls that a connection may begin in one round while no other connection makes calls. About a hundred are under
 * way then, so a call of another connection that arrives waits for a few milliseconds of their work.
 */
const callsPerRoundAlone = 8;

/** Begins a call; returns false when it has already ended. */
type Begin = () => boolean;

/**
 * The queue in which calls begin, in turns of the connections.
 *
 * A connection with a thousand calls may begin one while a call of another connection is answered, and a few in each
 * round of the event loop while it is alone. Rounds are counted and not time: they take microseconds while there is
 * nothing to do, so a call that waits for a disk delays no other.
 */
export class CallLine {
  readonly #roundsPerCall: number;
  /** By connection, the one with the next turn first; without calls, for connections that began one just now. */
  readonly #lines = new Map<string, Begin[]>();
  #rounds = 0;
  /** The calls of a connection that was alone, in this round. */
  #begunAlone = 0;
  #due = false;

  constructor(roundsPerCall = roundsOfACall) {
    this.#roundsPerCall = roundsPerCall;
  }

  /** Begins a call in its connection's turn: at once when its connection has begun none just now, or few and alone. */
  begin(who: string, begin: Begin): void {
    const line = this.#lines.get(who);
    if (line !== undefined) {
      line.push(begin);
      return;
    }
    const isAlone = this.#lines.size === 0 && !isAnotherOwnerWaiting(who);
    if (isAlone && this.#begunAlone >= callsPerRoundAlone) {
      this.#lines.set(who, [begin]);
      return;
    }
    if (!begin()) return;
    if (isAlone) this.#begunAlone++;
    else this.#lines.set(who, []);
    this.#goOn();
  }

  #goOn(): void {
    if (this.#due) return;
    this.#due = true;
    setImmediate(() => this.#round());
  }

  #round(): void {
    this.#due = false;
    this.#begunAlone = 0;
    this.#rounds++;
    const [first] = this.#lines.keys();
    if (first === undefined) return;
    if (this.#lines.size === 1 && !isAnotherOwnerWaiting(first)) {
      for (let n = 0; n < callsPerRoundAlone; n++) this.#beginOne();
    } else if (this.#rounds >= this.#roundsPerCall) {
      this.#rounds = 0;
      this.#beginOne();
    }
    if (this.#lines.size > 0) this.#goOn();
  }

  #beginOne(): void {
    for (const [who, line] of this.#lines) {
      this.#lines.delete(who);
      for (let next = line.shift(); next !== undefined; next = line.shift()) {
        if (!next()) continue;
        // Moves the connection to the end of the line.
        this.#lines.set(who, line);
        return;
      }
    }
  }
}
