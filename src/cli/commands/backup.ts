import type { Describe } from "../command-list.ts";
import { answersJson, withExamples } from "../common-options.ts";
import { type CommonOptions, inSession } from "../session.ts";
import { numberFrom } from "../whole-number.ts";

export interface BackupOptions extends CommonOptions {
  readonly data?: string;
  readonly database?: string;
  readonly blobs?: string;
  readonly keep: number;
}

export const describeBackup: Describe = (command, program) => {
  answersJson(command)
    .argument(
      "<directory>",
      "the directory of the backups, best on another disk; created if it does not exist",
    )
    .option("--data <dir>", "the farm's data directory (GRANGE_DATA)")
    .option("--blobs <dir>", "the blob store, if it is not in the data directory (GRANGE_BLOBS)")
    .option("--database <url>", "the database of the farm, if it is external (GRANGE_DATABASE_URL)")
    .option("--keep <n>", "the number of backups to keep", numberFrom(1, 10_000), 7)
    .action((directory: string, options: BackupOptions) =>
      inSession(options, async (session) => {
        const { backUp } = await import("../backup/back-up.ts");
        return backUp(session, directory, options, program.version);
      }),
    );
  withExamples(command, [
    ["copy a running farm to another disk", "backup /mnt/backup/farm"],
    [
      "the same for a server that runs as a service of systemd",
      "backup /mnt/backup/farm --data /var/lib/grange/server",
    ],
  ]);
  command.addHelpText("after", backupExitCodes);
};

export const backupExitCodes =
  "\nExit codes: 0 complete, 1 failed or refused, 2 invalid command line. stderr shows the reason.";
