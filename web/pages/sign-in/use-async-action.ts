import { useCallback, useState } from "react";
import { messageOf } from "#core/fault.ts";

/** A request to the farm that is in progress or has failed. */
export interface AsyncAction {
  readonly isBusy: boolean;
  readonly problem: string | null;
  /** Navigates to `then` when it has succeeded, because all visible data belongs to another user. */
  readonly run: (work: () => Promise<unknown>, then: string) => Promise<void>;
}

export function useAsyncAction(): AsyncAction {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const run = useCallback(async (work: () => Promise<unknown>, then: string) => {
    setBusy(true);
    setProblem(null);
    try {
      await work();
      location.assign(then);
    } catch (reason) {
      setProblem(messageOf(reason));
      setBusy(false);
    }
  }, []);
  return { isBusy, problem, run };
}
