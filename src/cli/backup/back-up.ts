import { type TakenBackup, takeBackup } from "#backup/take-backup.ts";
import { memorySizeText } from "#core/memory-size.ts";
import { readFarm } from "#server/blob-storage/farm.store.ts";
import { readServerConfig } from "#server/config.ts";
import type { BackupOptions } from "../commands/backup.ts";
import type { ExitCode } from "../exit-code.ts";
import { answer, type Session } from "../session.ts";
import { dataDirectoryFor } from "../up/where-to-run.ts";
import { abortOnSignal } from "./abort-on-signal.ts";
import { showSteps } from "./progress.ts";
import { requireDirectoryOfBlobs } from "./require-directory-of-blobs.ts";

/** Backs up the farm of a data directory, with the settings that its server has in the environment. */
export async function backUp(
  session: Session,
  directory: string,
  options: BackupOptions,
  grangeVersion: string,
): Promise<ExitCode> {
  const { config, terminal } = session;
  const dataDir = await dataDirectoryFor(options.data ?? config.dataDir, process.cwd());
  const server = readServerConfig({
    dataDir,
    ...(options.database === undefined ? {} : { databaseUrl: options.database }),
    ...(options.blobs === undefined ? {} : { blobs: options.blobs }),
  });
  requireDirectoryOfBlobs(server);
  const steps = showSteps(terminal.notes);
  const { signal, stop } = abortOnSignal();
  let taken: TakenBackup;
  try {
    taken = await takeBackup(
      {
        directory,
        dataDir,
        blobs: server.blobs,
        farmOf: async (db) => (await readFarm(db))?.id,
        databaseUrl: server.databaseUrl,
        keep: options.keep,
        keyFiles: { farmKey: server.farmKey, secretsKey: server.secretsKey },
        grangeVersion,
      },
      steps.step,
      signal,
    );
  } finally {
    steps.end();
    stop();
  }
  const { name, manifest, databaseBytes, removed } = taken;
  const { blobs, secretFiles, filesElsewhere, startedAt, finishedAt } = manifest;
  const result = {
    backup: name,
    directory: taken.directory,
    startedAt,
    finishedAt,
    databaseBytes,
    blobs: { ...blobs, list: undefined },
    secretFiles: secretFiles.map((each) => each.name),
    filesElsewhere,
    removedBackups: removed.backups,
    removedBlobs: removed.blobs,
  };
  const seconds = (Date.parse(finishedAt) - Date.parse(startedAt)) / 1_000;
  return answer(session, options, result, () => [
    `backup ${name} is complete: database ${memorySizeText(databaseBytes)}, ${blobs.count} blobs of ${memorySizeText(blobs.bytes)}, ` +
      `of which ${blobs.copied} (${memorySizeText(blobs.copiedBytes)}) are new, in ${seconds.toFixed(1)} s`,
    ...(blobs.damaged === 0
      ? []
      : [
          `${blobs.damaged} blobs of the store are damaged and not in the backup. The farm makes them again when they are needed`,
        ]),
    ...(blobs.removed === 0
      ? []
      : [`${blobs.removed} blobs were removed from the store during the backup and are not in it`]),
    ...filesElsewhere.map(
      (path) => `not in the backup, because the server keeps it in another place: ${path}`,
    ),
    ...(removed.backups === 0
      ? []
      : [`removed ${removed.backups} old or interrupted backups and ${removed.blobs} blobs`]),
  ]);
}
