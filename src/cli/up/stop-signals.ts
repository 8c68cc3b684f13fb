/**
 * npm passes Ctrl-C on to a process that has already received it from the terminal. A second signal this soon after the
 * first is that echo, not the user.
 */
const echoMs = 500;

export interface StopSignals {
  /** Aborted by the first signal. */
  readonly asked: AbortSignal;
  forget(): void;
}

/** Handles the signals that end this process: the first requests an orderly stop, the second forces it. */
export function stopSignals(insist: () => void): StopSignals {
  const stopRequest = new AbortController();
  let requestedAt = 0;
  const hear = () => {
    if (!stopRequest.signal.aborted) {
      requestedAt = Date.now();
      stopRequest.abort();
    } else if (Date.now() - requestedAt > echoMs) insist();
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, hear);
  return {
    asked: stopRequest.signal,
    forget() {
      for (const signal of signals) process.off(signal, hear);
    },
  };
}
