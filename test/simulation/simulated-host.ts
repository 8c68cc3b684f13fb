import * as crypto from "node:crypto";
import { createRequire, syncBuiltinESMExports } from "node:module";
import type { EventLoop, Timer } from "./event-loop.ts";

const require = createRequire(import.meta.url);

/**
 * Replaces what JavaScript code gets from its host as time and timers by those of the loop that `loopOf` returns.
 *
 * The farm's code and PostgreSQL, which runs as WebAssembly, then use these. It cannot be undone, so a process that
 * calls it does nothing but simulate.
 */
export function simulateTime(loopOf: () => EventLoop): void {
  replaceTime(loopOf);
  syncBuiltinESMExports();
}

/** The same for randomness. It takes no time, so PostgreSQL can start with it. */
export function simulateRandomness(loopOf: () => EventLoop): void {
  replaceRandomness(loopOf);
  syncBuiltinESMExports();
}

function replaceTime(loopOf: () => EventLoop): void {
  const now = () => Math.floor(loopOf().nowMs);
  const RealDate = Date;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, values, newTarget) =>
      values.length === 0 ? new RealDate(now()) : Reflect.construct(target, values, newTarget),
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
  });
  Object.defineProperty(performance, "now", { value: () => loopOf().nowMs - loopOf().startedMs });

  const setTimer = (run: (...values: unknown[]) => void, ms = 0, ...values: unknown[]) =>
    asTimeout(loopOf().after(Math.max(1, Number(ms)), () => run(...values)));
  const setRepeating = (run: (...values: unknown[]) => void, ms = 0, ...values: unknown[]) => {
    const handle = asTimeout(undefined);
    const plan = () => {
      handle.planned = loopOf().after(Math.max(1, Number(ms)), () => {
        plan();
        run(...values);
      });
    };
    plan();
    return handle;
  };
  const setSoon = (run: (...values: unknown[]) => void, ...values: unknown[]) =>
    asTimeout(loopOf().after(0, () => run(...values)));
  const clear = (handle: unknown) => {
    if (handle instanceof SimulatedTimeout && handle.planned !== undefined)
      loopOf().cancel(handle.planned);
  };
  const timers = {
    setTimeout: setTimer,
    setInterval: setRepeating,
    setImmediate: setSoon,
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  };
  Object.assign(globalThis, timers);
  Object.assign(require("node:timers"), timers);
  Object.assign(require("node:timers/promises"), {
    setTimeout: (ms = 0, value?: unknown) =>
      new Promise((resolve) => setTimer(() => resolve(value), ms)),
    setImmediate: (value?: unknown) => new Promise((resolve) => setSoon(() => resolve(value))),
  });
  AbortSignal.timeout = (ms) => {
    const over = new AbortController();
    setTimer(() => over.abort(new DOMException("The operation timed out.", "TimeoutError")), ms);
    return over.signal;
  };
}

class SimulatedTimeout {
  planned: Timer | undefined;
  ref() {
    return this;
  }
  unref() {
    return this;
  }
  hasRef() {
    return true;
  }
}

function asTimeout(planned: Timer | undefined): SimulatedTimeout {
  return Object.assign(new SimulatedTimeout(), { planned });
}

function replaceRandomness(loopOf: () => EventLoop): void {
  const uuid = () => loopOf().random.uuid();
  const fill = <T extends ArrayBufferView | null>(view: T): T => {
    if (view !== null)
      loopOf().random.fill(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
    return view;
  };
  const builtin: Record<string, unknown> = require("node:crypto");
  builtin["randomUUID"] = uuid;
  builtin["randomBytes"] = (size: number) => fill(Buffer.alloc(size));
  builtin["randomFillSync"] = fill;
  Object.defineProperty(crypto.webcrypto, "randomUUID", { value: uuid });
  Object.defineProperty(crypto.webcrypto, "getRandomValues", { value: fill });
  Math.random = () => loopOf().random.next();
}
