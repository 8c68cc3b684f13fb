import { checkBackup, restoreBackup } from "#backup/restore-backup.ts";
import { memorySizeText } from "#core/memory-size.ts";
import { readServerConfig } from "#server/config.ts";
import type { RestoreOptions } from "../commands/restore.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import { answer, type Session } from "../session.ts";
import { dataDirectoryFor } from "../up/where-to-run.ts";
import { abortOnSignal } from "./abort-on-signal.ts";
import { showSteps } from "./progress.ts";
import { requireDirectoryOfBlobs } from "./require-directory-of-blobs.ts";

/** Restores a backup, or only checks it. */
export async function restore(
  session: Session,
  directory: string,
  options: RestoreOptions,
): Promise<ExitCode> {
  const { config, terminal } = session;
  const dataDir = await dataDirectoryFor(options.data ?? config.dataDir, process.cwd());
  const server = readServerConfig({
    dataDir,
    ...(options.database === undefined ? {} : { databaseUrl: options.database }),
    ...(options.blobs === undefined ? {} : { blobs: options.blobs }),
  });
  const { databaseUrl, blobs: store } = server;
  requireDirectoryOfBlobs(server);
  const chosen = { directory, name: options.backup };
  const steps = showSteps(terminal.notes);
  const { signal, stop } = abortOnSignal();
  const isCheck = options.check === true;
  const work = () =>
    isCheck
      ? checkBackup(chosen, steps.step, signal)
      : restoreBackup(
          {
            ...chosen,
            dataDir,
            blobs: store,
            databaseUrl,
            skipDamaged: options.skipDamaged === true,
          },
          steps.step,
          signal,
        );
  const { name, manifest, damaged } = await work().finally(() => {
    steps.end();
    stop();
  });
  const { blobs, secretFiles, filesElsewhere, startedAt, tables } = manifest;
  const result = {
    backup: name,
    startedAt,
    tables: tables.length,
    blobs: blobs.count - damaged.length,
    damaged,
    secretFiles: secretFiles.map((each) => each.name),
    filesElsewhere,
  };
  const what = `backup ${name}: ${tables.length} tables, ${blobs.count} blobs of ${memorySizeText(blobs.bytes)}`;
  answer(session, options, result, () =>
    isCheck
      ? [
          damaged.length === 0 ? `${what}; all files are intact` : what,
          ...damaged.map((each) => `damaged: ${each}`),
        ]
      : [
          `restored ${what}, as of ${startedAt}`,
          ...(damaged.length === 0
            ? []
            : [`without ${damaged.length} blobs, which are damaged in the backup`]),
          ...filesElsewhere.map(
            (path) => `the server was configured with a file that is not in the backup: ${path}`,
          ),
          `start it: ${databaseUrl === undefined ? "" : "GRANGE_DATABASE_URL=… "}grange server --data ${dataDir}` +
            (store === undefined ? "" : ` --blobs ${store}`),
        ],
  );
  return isCheck && damaged.length > 0 ? exitCodes.failed : exitCodes.ok;
}
