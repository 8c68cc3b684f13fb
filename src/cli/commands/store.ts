import type { Describe } from "../command-list.ts";
import { answersJson, withExamples } from "../common-options.ts";
import { type CommonOptions, inSession } from "../session.ts";
import { backupExitCodes } from "./backup.ts";

export interface StoreCopyOptions extends CommonOptions {
  readonly data?: string;
  readonly database?: string;
  readonly blobs?: string;
  readonly store?: string;
}

/** `grange store copy`: moves a farm from a directory of blobs to a bucket. */
export const describeStore: Describe = (command) => {
  answersJson(command.command("copy"))
    .description("copy the blobs of a farm from their directory to a bucket")
    .option("--data <dir>", "the farm's data directory (GRANGE_DATA)")
    .option("--blobs <dir>", "the blob store, if it is not in the data directory (GRANGE_BLOBS)")
    .option("--database <url>", "the database of the farm, if it is external (GRANGE_DATABASE_URL)")
    .option(
      "--store <url>",
      "the bucket, s3://BUCKET or s3://BUCKET/PREFIX; its other settings are in the environment (GRANGE_STORE)",
    )
    .action((options: StoreCopyOptions) =>
      inSession(options, async (session) => {
        const { copyStore } = await import("../store/copy-store.ts");
        return copyStore(session, options);
      }),
    )
    .addHelpText("after", backupExitCodes);
  withExamples(command, [
    [
      "copy while the farm runs, and again after its servers have stopped",
      "store copy --store s3://farm-blobs/main",
    ],
  ]);
};
