import { readBucketConfig } from "#server/blob-storage/config.ts";
import type { ExitCode } from "../exit-code.ts";
import type { CommonOptions, Session } from "../session.ts";
import { dataDirectoryFor } from "../up/where-to-run.ts";
import { browserChecks } from "./browser.ts";
import { type BucketSettings, bucketChecks } from "./bucket.ts";
import { dataDirectoryChecks } from "./data-directory.ts";
import { databaseChecks } from "./database.ts";
import { farmChecks } from "./farm.ts";
import { machineChecks } from "./machine.ts";
import { measuringChecks } from "./measuring.ts";
import { printChecks } from "./print-checks.ts";
import { repositoryChecks } from "./repository.ts";
import type { Group } from "./run-checks.ts";
import { sandboxChecks } from "./sandbox.ts";
import { toolChecks } from "./tools.ts";
import { workerFacilityChecks } from "./worker-facilities.ts";

/** Runs all checks; fails when one of them fails, but not on a warning. */
export async function examine(
  { config, terminal, api }: Session,
  options: CommonOptions,
  version: string,
): Promise<ExitCode> {
  const directory = process.cwd();
  const dataDir = await dataDirectoryFor(config.dataDir, directory);
  const { databaseUrl, databaseReadUrl } = config;
  const bucket = readBucketConfig();
  const groups = doctorGroups({
    directory,
    dataDir,
    databaseUrl,
    databaseReadUrl,
    bucket,
    api,
    version,
  });
  return printChecks(groups, terminal, options);
}

/** Returns all checks of `grange doctor`, in groups; none has run. */
export function doctorGroups(subject: {
  /** The directory of the user, in which a repository is looked for. */
  readonly directory: string;
  readonly dataDir: string;
  /** That of an external database. */
  readonly databaseUrl: string | undefined;
  /** Those of its replicas. */
  readonly databaseReadUrl: string | undefined;
  /** The store of blobs, if it is a bucket. */
  readonly bucket: BucketSettings | undefined;
  readonly api: Session["api"];
  /** The version of this program. */
  readonly version: string;
}): Group[] {
  const { directory, dataDir, databaseUrl, databaseReadUrl, bucket, api, version } = subject;
  return [
    { name: "Tools", checks: toolChecks() },
    { name: "Machine", checks: machineChecks() },
    { name: "Data directory", checks: dataDirectoryChecks(dataDir) },
    { name: "Database", checks: databaseChecks(databaseUrl, databaseReadUrl) },
    ...(bucket === undefined ? [] : [{ name: "Bucket", checks: bucketChecks(bucket) }]),
    { name: "Sandbox of jobs", checks: [...sandboxChecks(), ...workerFacilityChecks()] },
    { name: "Repository", checks: repositoryChecks(directory) },
    { name: "Farm", checks: farmChecks(api, version) },
    { name: "Measuring", checks: measuringChecks() },
    { name: "Development", checks: browserChecks() },
  ];
}
