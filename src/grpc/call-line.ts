import { setImmediate } from "node:timers";
import { isAnotherOwnerWaiting } from "#scheduling/take-turns.ts";

/** A small call takes about a dozen steps, each in its own round of the event loop. */
const roundsOfACall = 12;
/** A turn lasts no longer than this, in ms: on a busy machine one round takes several milliseconds. */
const longestTurnMs = 4;

/**
 * The calls that a connection may begin in one round while no other connection makes calls. About a hundred are under
 * way then, so a call of another connection that arrives waits for a few milliseconds of their work.
 */
const callsPerRoundAlone = 8;

/**
 * The waiting connections of which one begins a call in a turn. Otherwise the last of a thousand workers that make two
 * calls each would wait for a thousand turns.
 */
const connectionsPerCall = 32;

/** Begins a call; returns false when it has already ended. */
type Begin = () => boolean;

/** A moment, in rounds of the event loop and in ms. */
interface Moment {
  readonly round: number;
  readonly ms: number;
}

/**
 * The queue in which calls begin, in turns of the connections.
 *
 * A connection with a thousand calls may begin one while a call of another connection is answered, and a few in each
 * round of the event loop while it is alone. A connection that begins a call now and then does not wait, however many
 * others do.
 *
 * A turn lasts for some rounds: they take microseconds while there is nothing to do, so a call that waits for a disk
 * delays no other. It ends by time where rounds are slow: a busy server would otherwise begin fewer and fewer calls.
 */
export class CallLine {
  readonly #roundsPerCall: number;
  /** The waiting calls by connection, the one with the next turn first. */
  readonly #lines = new Map<string, Begin[]>();
  /** When connections began their last call, if it was just now; the oldest first. */
  readonly #begunAt = new Map<string, Moment>();
  #rounds = 0;
  #lastTurn: Moment = { round: 0, ms: 0 };
  /** The connection that began calls alone in this round, and their number. */
  #alone: { readonly who: string; readonly begun: number } | undefined;
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
    const isFirst = this.#lines.size === 0 && this.#begunAt.size === 0;
    const { begun } = this.#alone ?? { begun: 0 };
    const isAlone = isFirst && (this.#alone?.who ?? who) === who && !isAnotherOwnerWaiting(who);
    const mustWait = isAlone ? begun >= callsPerRoundAlone : this.#begunAt.has(who);
    if (mustWait) this.#startLine(who, begin);
    else if (!begin()) return;
    else if (isAlone) this.#alone = { who, begun: begun + 1 };
    else this.#begunAt.set(who, this.#now());
    this.#goOn();
  }

  #startLine(who: string, begin: Begin): void {
    // The time in which nothing waited counts for nobody.
    if (this.#lines.size === 0) this.#lastTurn = this.#now();
    this.#lines.set(who, [begin]);
  }

  #now(): Moment {
    return { round: this.#rounds, ms: performance.now() };
  }

  #goOn(): void {
    if (this.#due) return;
    this.#due = true;
    setImmediate(() => this.#round());
  }

  #round(): void {
    this.#due = false;
    this.#alone = undefined;
    this.#rounds++;
    const now = this.#now();
    for (const [who, begun] of this.#begunAt) {
      if (!this.#isTurnOver(begun, now)) break;
      this.#begunAt.delete(who);
    }
    this.#beginWaiting(now);
    if (this.#lines.size > 0 || this.#begunAt.size > 0) this.#goOn();
  }

  #isTurnOver(since: Moment, now: Moment): boolean {
    return now.round - since.round >= this.#roundsPerCall || now.ms - since.ms >= longestTurnMs;
  }

  #beginWaiting(now: Moment): void {
    const [first] = this.#lines.keys();
    if (first === undefined) return;
    const isAlone =
      this.#lines.size === 1 &&
      this.#begunAt.size === (this.#begunAt.has(first) ? 1 : 0) &&
      !isAnotherOwnerWaiting(first);
    if (isAlone) {
      for (let n = 0; n < callsPerRoundAlone; n++) this.#beginOne(now);
      return;
    }
    if (!this.#isTurnOver(this.#lastTurn, now)) return;
    this.#lastTurn = now;
    const count = Math.ceil(this.#lines.size / connectionsPerCall);
    for (let n = 0; n < count; n++) this.#beginOne(now);
  }

  #beginOne(now: Moment): void {
    for (const [who, line] of this.#lines) {
      this.#lines.delete(who);
      for (let next = line.shift(); next !== undefined; next = line.shift()) {
        if (!next()) continue;
        this.#begunAt.delete(who);
        this.#begunAt.set(who, now);
        // Moves the connection to the end of the line.
        if (line.length > 0) this.#lines.set(who, line);
        return;
      }
    }
  }
}
