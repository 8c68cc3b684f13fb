/** The configured owner of jobs and benchmarks of a worker that runs as root: see `job-owner.ts`. */
export function wantedJobUid(): string | undefined {
  return process.env["GRANGE_JOB_UID"];
}

/** Whether programs may run as root when there is no sandbox. */
export const allowsRootJobs = /^(1|true|yes|on)$/i.test(
  process.env["GRANGE_ALLOW_ROOT_JOBS"] ?? "",
);
