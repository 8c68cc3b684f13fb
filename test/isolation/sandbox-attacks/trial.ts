import type { FakeJob } from "#worker/fake-farm.fixture.ts";

/** An attack that runs together with others in one job. */
export interface ScriptTrial {
  /**
   * A shell script that exits with 0 if the attack succeeded. It finds the things to attack in the variables of
   * `scene.ts`.
   */
  readonly script: string;
  /**
   * `succeeds`: root succeeds without a sandbox, and does no harm. The test asserts that, because a script with a mistake
   * would always fail. `untried`: it would do harm, or depends on the machine.
   */
  readonly withoutSandbox: "succeeds" | "untried";
  readonly network?: true;
}

/** The end of a job, as an observer sees it. */
export interface Observed {
  readonly outcome: number;
  readonly exitCode?: number | undefined;
  readonly stdout: string;
  readonly message: string;
  /** Texts of the output files. */
  readonly outputs: readonly string[];
}

/** An attack that needs a job of its own. */
export interface JobTrial {
  readonly job: FakeJob;
  readonly isHeld: (observed: Observed) => boolean;
}
