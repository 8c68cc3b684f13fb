import { Fault } from "#core/fault.ts";

/** Aborts on Ctrl-C or SIGTERM, so that unfinished work is cleaned up; a second signal ends the process. */
export function abortOnSignal(): { readonly signal: AbortSignal; readonly stop: () => void } {
  const aborting = new AbortController();
  const abort = () => aborting.abort(new Fault("cancelled", "stopped by a signal"));
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, abort);
  return {
    signal: aborting.signal,
    stop() {
      for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, abort);
    },
  };
}
