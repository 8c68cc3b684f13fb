/** The result of a check, and for all but `ok` what can be done about it. */
export type Finding =
  | { readonly status: "ok"; readonly detail: string }
  | { readonly status: "warn" | "fail"; readonly detail: string; readonly fix: string };

/** One check of this machine. It restores everything that it changes. */
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

/** Grange runs, but slower, or something is missing that not all need. */
export function warn(detail: string, fix: string): Finding {
  return { status: "warn", detail, fix };
}

/** Grange does not run like this. */
export function fail(detail: string, fix: string): Finding {
  return { status: "fail", detail, fix };
}
