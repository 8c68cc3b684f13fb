import type { TargetState } from "#api/invocation-targets.ts";

/** What is known of a target in a build. */
export interface TargetStanding {
  /** What build events report; null when they do not name it. */
  readonly reported: {
    readonly success: boolean | null;
    readonly aborted: string | null;
    readonly testStatus: string | null;
    /** Whether the build has ended. */
    readonly isBuildOver: boolean;
  } | null;
  /** Actions by how their last execution ended. */
  readonly failed: number;
  readonly open: number;
  readonly cancelled: number;
  /** Actions that failed, and succeeded when they were repeated. */
  readonly flaky: number;
}

/** Returns the state of a target in a build. Build events count more than actions: a tool may repeat an action itself. */
export function targetState({ reported, ...actions }: TargetStanding): TargetState {
  if (reported !== null) {
    const { aborted, isBuildOver, success, testStatus } = reported;
    if (success === false || isFailedTest(testStatus)) return "failed";
    if (testStatus === "FLAKY") return "flaky";
    if (success === true) return "succeeded";
    return aborted !== null || isBuildOver ? "skipped" : "running";
  }
  if (actions.failed > 0) return "failed";
  if (actions.open > 0) return "running";
  if (actions.flaky > 0) return "flaky";
  return actions.cancelled > 0 ? "cancelled" : "succeeded";
}

/** A target with failed tests was built: `success` is true. */
function isFailedTest(status: string | null): boolean {
  return status !== null && !["PASSED", "FLAKY", "NO_STATUS"].includes(status);
}
