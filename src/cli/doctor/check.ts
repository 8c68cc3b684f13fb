/** The result of a check, and for all but `ok` the remedy. */
export type Finding =
  | { readonly status: "ok"; readonly detail: string }
  | { readonly status: "warn" | "fail"; readonly detail: string; readonly fix: string };

/** One check of this machine. It reverts all its changes. */
export interface Check {
  readonly name: string;
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
export function warn(detail: string, fix: string): Finding {
  return { status: "warn", detail, fix };
}

/** Grange does not run in this state. */
export function fail(detail: string, fix: string): Finding {
  return { status: "fail", detail, fix };
}
