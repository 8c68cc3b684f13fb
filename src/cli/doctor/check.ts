/** The result of a check. `fix` replaces that of the check where a more exact one is known. */
export type Finding =
  | { readonly status: "ok"; readonly detail: string }
  | {
      readonly status: "warn" | "fail";
      readonly detail: string;
      readonly fix: string | undefined;
    };

/** One check of this machine. It reverts all its changes. */
export interface Check {
  readonly name: string;
  /** What has to be so, as a sentence without its full stop; docs/doctor.md lists it with the fix. */
  readonly needs: string;
  /** What to do when it is not so. */
  readonly fix: string;
  run(): Promise<Finding>;
}

export interface CheckResult {
  readonly group: string;
  readonly name: string;
  readonly status: Finding["status"];
  readonly detail: string;
  readonly fix: string | null;
}

export function ok(detail: string): Finding {
  return { status: "ok", detail };
}

/** Grange runs, but slower, or an optional feature is missing. */
export function warn(detail: string, fix?: string): Finding {
  return { status: "warn", detail, fix };
}

/** Grange does not run in this state. */
export function fail(detail: string, fix?: string): Finding {
  return { status: "fail", detail, fix };
}
