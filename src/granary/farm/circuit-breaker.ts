import { afterFailure, type Circuit, closed, isTimeToProbe, meansUnreachable } from "./circuit.ts";

export interface CircuitBreaker {
  /**
   * Returns whether the farm counts as unreachable. After a pause that is long enough, a call of this function sends
   * one probe.
   */
  isAway(): boolean;
  /** Makes a call, regardless of `isAway`, and updates the state with its outcome. */
  through<T>(call: () => Promise<T>): Promise<T>;
  succeeded(): void;
  failed(reason: unknown): void;
  /** Resolves when no probe is running, and sends no further one. */
  stop(): Promise<void>;
}

/**
 * Ensures that a build does not wait for an unreachable farm at each request.
 *
 * No timer runs: without builds, the farm is not contacted.
 */
export function circuitBreaker(parts: {
  readonly probe: () => Promise<void>;
  readonly onChange: (isAway: boolean, reason: unknown) => void;
  readonly now?: () => number;
  readonly chance?: () => number;
}): CircuitBreaker {
  const { probe, onChange, now = () => performance.now(), chance = Math.random } = parts;
  let circuit: Circuit = closed;
  let probing: Promise<void> | undefined;
  let isStopped = false;

  const succeeded = () => {
    if (circuit.kind !== "closed") onChange(false, undefined);
    circuit = closed;
  };
  const failed = (reason: unknown) => {
    if (isStopped || !meansUnreachable(reason)) return;
    // A call that began before the farm became unreachable gives no new information.
    if (circuit.kind === "probing") return;
    if (circuit.kind === "closed") onChange(true, reason);
    circuit = afterFailure(circuit, now(), chance());
  };
  const findOut = async (): Promise<void> => {
    try {
      await probe();
      succeeded();
    } catch (reason) {
      // Any answer, even an error, shows that the farm is reachable.
      if (!meansUnreachable(reason)) succeeded();
      else if (circuit.kind === "probing") circuit = afterFailure(circuit, now(), chance());
    }
  };

  return {
    isAway() {
      if (circuit.kind === "closed") return false;
      if (!isStopped && probing === undefined && isTimeToProbe(circuit, now())) {
        circuit = { kind: "probing", failures: circuit.kind === "open" ? circuit.failures : 1 };
        probing = findOut().finally(() => {
          probing = undefined;
        });
      }
      return true;
    },
    async through(call) {
      try {
        const answer = await call();
        succeeded();
        return answer;
      } catch (reason) {
        if (meansUnreachable(reason)) failed(reason);
        throw reason;
      }
    },
    succeeded,
    failed,
    async stop() {
      isStopped = true;
      await probing;
    },
  };
}
