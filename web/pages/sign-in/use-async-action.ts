import { useCallback, useState } from "react";
import { messageOf } from "#core/fault.ts";

/** Something that is under way at the farm, or went wrong there. */
export interface AsyncAction {
  readonly isBusy: boolean;
  readonly problem: string | null;
  /** Leaves the page for `then` when it is done: all that is shown was another's. */
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
